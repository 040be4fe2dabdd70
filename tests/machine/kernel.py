"""Debian's own kernel, taken out of its package: nothing is installed. Kept in the build directory."""
import os
import re
import subprocess
import tempfile

from support import build

PACKAGE = "linux-image-cloud-amd64"  # small, and quick to start
PATH = build.BUILD / "tests" / "machine" / "vmlinuz"


class Unavailable(Exception):
    """There is no package to be had; the text says why."""


def fetch():
    """The path of the kernel, which is downloaded if it is not there."""
    if not PATH.exists():
        with tempfile.TemporaryDirectory(dir=PATH.parent) as directory:
            _extract(_download(directory), f"{directory}/vmlinuz")
            os.rename(f"{directory}/vmlinuz", PATH)
    return PATH


def _download(directory):
    """With lists of its own: the system's may be old or empty, and are nobody's to change here."""
    os.makedirs(f"{directory}/lists/partial")

    def apt(command, *arguments):
        own = [f"-oDir::State::lists={directory}/lists", f"-oDir::Cache={directory}",
               "-oDebug::NoLocking=1", "-oAPT::Sandbox::User=root"]
        return _run([command, *own, *arguments], directory)
    apt("apt-get", "-q", "update", "-oAPT::Update::Error-Mode=any")
    depends = apt("apt-cache", "depends", PACKAGE)
    name = re.search(r"Depends: (linux-image-\S+)", depends)
    if name is None:
        raise Unavailable(f"{PACKAGE} is not known to apt: {depends}")
    apt("apt-get", "-q", "download", name[1])
    return next(f"{directory}/{file}" for file in os.listdir(directory) if file.endswith(".deb"))


def _extract(package, path):
    with open(path, "wb") as kernel, \
            subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as files:
        subprocess.run(["tar", "-xO", "--wildcards", "./boot/vmlinuz-*"], stdin=files.stdout,
                       stdout=kernel, check=True)


def _run(command, directory):
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=120)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise Unavailable(str(error)) from None
    if done.returncode != 0:
        complaint, _, _ = done.stderr.strip().partition("\n")
        raise Unavailable(f"{command[0]}: {complaint}")
    return done.stdout
