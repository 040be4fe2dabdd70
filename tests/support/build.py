"""Where the built things are: RINGDEAL_BUILD names the build directory, build/dev by default."""
import os
import pathlib

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RINGDEAL_BUILD", SOURCE / "build" / "dev")).resolve()
DAEMON = BUILD / "daemon" / "ringdeald"
COMMAND = BUILD / "cli" / "ringdeal"
SHIM = BUILD / "client-shim" / "libringdeal-preload.so"
PYTHON = "/usr/bin/python3"
SERVERS = SOURCE / "tests" / "programs"  # servers in Python, to be run with PYTHON
PROGRAMS = BUILD / "tests" / "programs"  # compiled ones
