"""Servers of tests/programs, by how they wait for connections: what follows build.PYTHON in a command."""
from support import build

WAITING = {
    "level": [build.SERVERS / "prefork_server.py"],
    "edge": [build.SERVERS / "waiting_server.py", "--wait", "edge"],
    "poll": [build.SERVERS / "waiting_server.py", "--wait", "poll"],
    "select": [build.SERVERS / "waiting_server.py", "--wait", "select"],
    "blocking": [build.SERVERS / "blocking_server.py"],
}
# One of each manner of serving.
SERVING = {"event loops": WAITING["level"][0], "one at a time": WAITING["blocking"][0]}


def waiting_by(*names):
    return {name: WAITING[name] for name in names}
