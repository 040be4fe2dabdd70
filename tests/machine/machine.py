"""A machine of two sockets, two cores each, two threads a core, each socket a NUMA node, emulated in
software: slow, so that its times mean nothing, but with a real kernel's view of a real topology."""
import json
import pathlib
import subprocess

EMULATOR = "qemu-system-x86_64"
CPUS = range(8)
RINGS = (0, 1, 2, 4)  # no two CPUs of one socket have different caches


def socket(cpu):
    return cpu // 4


def core(cpu):
    return cpu // 2


def ring(one, other):
    """0 the same CPU, 1 the same core, 2 the same cache, which is the socket's here, 4 the machine."""
    if one == other:
        return 0
    if core(one) == core(other):
        return 1
    return 2 if socket(one) == socket(other) else 4


def run(kernel, ramdisk, directory, limit=150):
    """Lets the machine run until it switches itself off: the JSON lines that it printed."""
    console, results = (pathlib.Path(directory) / name for name in ("console", "results"))
    command = [
        EMULATOR, "-accel", "tcg,thread=multi", "-machine", "q35", "-nodefaults",
        "-no-user-config", "-no-reboot", "-display", "none",
        # Of the models, one that shows the threads of a core to the system.
        "-cpu", "Skylake-Server-v4", "-smp", "8,sockets=2,cores=2,threads=2", "-m", "1G",
        *(part for node in (0, 1) for part in (
            "-object", f"memory-backend-ram,id=memory{node},size=512M",
            "-numa", f"node,nodeid={node},cpus={4 * node}-{4 * node + 3},memdev=memory{node}")),
        "-numa", "dist,src=0,dst=1,val=21",
        "-serial", f"file:{console}", "-serial", f"file:{results}",
        "-kernel", kernel, "-initrd", ramdisk, "-append", "console=ttyS0 quiet panic=-1"]
    try:
        done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=limit)
        failure = done.stderr if done.returncode != 0 else ""
    except subprocess.TimeoutExpired:
        failure = f"it has not switched itself off after {limit} s"
    lines = results.read_text(errors="replace").splitlines() if results.exists() else []
    text = console.read_text(errors="replace") if console.exists() else ""
    if failure or not lines or lines[-1] != '{"round":"end"}':
        raise AssertionError(f"the machine failed: {failure}\n{text[-8000:]}\n{lines[-5:]}")
    return [json.loads(line) for line in lines[:-1]]
