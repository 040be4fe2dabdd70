"""What cells need that no package has: compiled once, or fetched once, and kept in build/."""
import os
import pathlib
import subprocess

from support import build

FOLDER = build.SOURCE / "build" / "test-servers"


def run(command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False,
                          env={**os.environ, "GO111MODULE": "off"})
    assert done.returncode == 0, done.stdout


def program(name, file, code, compiler):
    """The executable of one source file. `compiler`: the command, of the source and the target."""
    folder = FOLDER / name
    source, target = folder / file, folder / "server"
    if not target.exists() or source.read_text() != code:
        folder.mkdir(parents=True, exist_ok=True)
        source.write_text(code)
        target.unlink(missing_ok=True)
        run(compiler(source, target))
    return target


def npm_package(name, file):
    """A file of a package of the npm registry, such as node@24."""
    folder = FOLDER / name.replace("@", "-")
    path = pathlib.Path(folder, "node_modules", name.partition("@")[0], file)
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        run(["npm", "install", "--silent", "--no-save", "--prefix", folder, name])
    return path
