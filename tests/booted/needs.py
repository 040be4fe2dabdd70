"""What there must be to boot a system; run by itself it says what is missing and exits with 77."""
import os
import pathlib
import shutil
import sys

PACKAGES = pathlib.Path(__file__).resolve().parents[2] / "build/packages"


def missing():
    """Why no system can be booted here; nothing if one can."""
    if os.geteuid() != 0:
        return "only root may boot a system in a container"
    for program in "systemd-nspawn", "nsenter", "nginx", "dpkg":
        if shutil.which(program) is None:
            return f"there is no {program} (packages systemd-container, util-linux, nginx-light, dpkg)"
    if not pathlib.Path("/lib/systemd/systemd").exists():
        return "this system has no systemd that could be booted"
    if not list(PACKAGES.glob("ringdeald_*.deb")):
        return "there are no packages: run scripts/package"
    return None


if __name__ == "__main__":
    reason = missing()
    if reason:
        print(reason)
        sys.exit(77)
