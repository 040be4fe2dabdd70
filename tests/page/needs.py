"""What there must be to look at the page. Run by itself it fetches the npm packages; if there can be
no browser here it says why and exits with 77."""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = pathlib.Path(os.environ.get("RINGDEAL_PAGE_PACKAGES", HERE.parents[1] / "build/page"))
BROWSER = "chromium"


def missing():
    """Why there can be no such test; nothing if there can, and then the packages are there."""
    for program in (BROWSER, "node", "npm"):
        if shutil.which(program) is None:
            return f"there is no {program}: run scripts/install-dependencies --page"
    PACKAGES.mkdir(parents=True, exist_ok=True)
    wanted = (HERE / "package.json").read_bytes()
    noted = PACKAGES / "package.json"
    if noted.exists() and noted.read_bytes() == wanted and (PACKAGES / "installed").exists():
        return None
    noted.write_bytes(wanted)
    install = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=PACKAGES,
                             capture_output=True, text=True, timeout=300)
    if install.returncode != 0:
        return f"npm brings no packages: {(install.stderr or install.stdout).strip()[-200:]}"
    (PACKAGES / "installed").touch()
    return None


if __name__ == "__main__":
    reason = missing()
    if reason:
        print(reason)
        sys.exit(77)
