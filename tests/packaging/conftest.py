import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RINGDEAL_BUILD", ROOT / "build/dev")).resolve()


class Installed:
    """A whole installation in a directory that is not where it believes to be."""

    def __init__(self, build, root):
        self.root = root
        cache = (build / "CMakeCache.txt").read_text()
        self.prefix = re.search(r"^CMAKE_INSTALL_PREFIX:PATH=(.*)$", cache, re.M).group(1)
        run = subprocess.run(
            ["cmake", "--install", build], env={"PATH": "/usr/bin:/bin", "DESTDIR": str(root)},
            capture_output=True, text=True,
        )
        assert run.returncode == 0, run.stdout + run.stderr

    def path(self, relative):
        return self.root / self.prefix.lstrip("/") / relative

    def only(self, name):
        """The one file of that name, wherever it lies."""
        found = [path for path in self.root.rglob(name) if not path.is_symlink()]
        assert len(found) == 1, f"{name}: {found}"
        return found[0]


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    return Installed(BUILD, tmp_path_factory.mktemp("installed"))
