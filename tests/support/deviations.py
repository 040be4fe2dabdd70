"""How a listening descriptor under the shim may differ from a plain one: nothing else is an exception
to what programs see without it."""
import json

from support import build

KNOWN = {entry["name"]: entry["text"]
         for entry in json.loads((build.SOURCE / "client-shim" / "deviations.json").read_text())}


def deviation(name):
    """Why a test makes an exception."""
    return KNOWN[name]
