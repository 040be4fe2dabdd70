"""The machine and the versions that figures belong to."""

import os
import pathlib
import re
import subprocess

PROGRAMS = {"nginx": ["nginx", "-v"], "haproxy": ["haproxy", "-v"], "node": ["node", "-v"],
            "wrk": ["wrk", "-v"]}


def version_of(command):
    """The first number with a dot that the program says; None where there is no such program."""
    path = os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": path})
    except FileNotFoundError:
        return None
    number = re.search(r"\d+\.[\w.]+", said.stdout + said.stderr)
    return number and number.group(0)


def cpu_model():
    found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return found.group(1) if found else os.uname().machine


def build_type(build):
    cache = (build / "CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_BUILD_TYPE:\w+=(.*)$", cache, re.M).group(1)


def describe(build):
    return {
        "cpu": cpu_model(),
        "cpus": len(os.sched_getaffinity(0)),
        "kernel": os.uname().release,
        "load": round(os.getloadavg()[0], 2),
        "build": build_type(build),
        "ringdeald": version_of([build / "daemon/ringdeald", "--version"]),
        **{name: version_of(command) for name, command in PROGRAMS.items()},
    }


def line(head):
    programs = ", ".join(f"{name} {head[name]}" for name in ("ringdeald", *PROGRAMS) if head[name])
    return (f"{head['cpus']} x {head['cpu']}, Linux {head['kernel']}, load {head['load']}, "
            f"{head['build']} build; {programs}")
