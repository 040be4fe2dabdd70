"""The whole system of the machine: busybox, our programs with the libraries that they need, and the
script that is its first process."""
import pathlib
import re
import shutil
import subprocess

from support import build

BUSYBOX = "/bin/busybox"
GUEST = pathlib.Path(__file__).resolve().parent / "guest"
PROGRAMS = build.BUILD / "tests" / "machine"


def write(path, directory):
    """`directory`: an empty one, to put the files together in."""
    root = pathlib.Path(directory)
    for folder in ("bin", "dev", "etc", "lib", "proc", "run", "sys", "tmp"):
        (root / folder).mkdir()
    for program in (BUSYBOX, build.DAEMON, build.COMMAND,
                    *(PROGRAMS / name for name in ("server", "client", "tree"))):
        _put(root, program, root / "bin")
    _put(root, build.SHIM, root / "lib")
    shutil.copy(GUEST / "ringdeal.yaml", root / "etc")
    shutil.copy(GUEST / "init", root)
    (root / "init").chmod(0o755)
    # Not compressed: unpacking would be emulated.
    names = "\n".join(str(file.relative_to(root)) for file in sorted(root.rglob("*")))
    with open(path, "wb") as archive:
        subprocess.run([BUSYBOX, "cpio", "-o", "-H", "newc"], cwd=root, input=names.encode(),
                       stdout=archive, stderr=subprocess.DEVNULL, check=True)


def _put(root, program, folder):
    """The program into a folder of the machine, its libraries where the loader looks for them."""
    shutil.copy(program, folder)
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    for library in re.findall(r"(/\S+) \(0x", listed):
        copy = root / library.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, copy)
