"""What there must be for the machine. Run by itself it fetches the kernel; if the machine cannot be
had here it says why and exits with 77."""
import pathlib
import platform
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import kernel  # noqa: E402
import machine  # noqa: E402
import ramdisk  # noqa: E402


def missing():
    """Why there can be no such machine; nothing if there can, and then the kernel is there."""
    if platform.machine() != "x86_64":
        return "the machine is an x86-64 one, and runs what was built here"
    for program in (machine.EMULATOR, ramdisk.BUSYBOX):
        if shutil.which(program) is None:
            return f"there is no {program}: run scripts/install-dependencies --machine"
    try:
        kernel.fetch()
    except kernel.Unavailable as error:
        return f"there is no kernel for it: {error}"
    return None


if __name__ == "__main__":
    reason = missing()
    if reason:
        print(reason)
        sys.exit(77)
