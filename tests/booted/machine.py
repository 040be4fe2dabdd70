"""This machine's own system, booted once more: systemd in a container whose root is a layer over /, with a
network of its own. Nothing that is done in it reaches the system below."""
import os
import pathlib
import shutil
import subprocess

from support.waiting import wait_until

POWER_OFF = "RTMIN+4"


def mount(kind, where, options):
    subprocess.run(["mount", "-t", kind, "-o", options, kind, where], check=True)


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except FileNotFoundError:
        return None


class Machine:
    def __init__(self, directory):
        self._layers = pathlib.Path(directory)
        mount("tmpfs", self._layers, "mode=0755")
        self.changes, work, self.root = (self._layers / name for name in ("changes", "work", "root"))
        for each in self.changes, work, self.root:
            each.mkdir()
        mount("overlay", self.root, f"lowerdir=/,upperdir={self.changes},workdir={work}")
        self._start_nothing_else()
        self.console = (self._layers / "console").open("w+")
        self._container = subprocess.Popen(
            ["systemd-nspawn", f"--directory={self.root}", "--boot", "--register=no", "--keep-unit",
             "--private-network", "--link-journal=no", f"--machine=ringdeal-{os.getpid()}",
             "--kill-signal=SIGRTMIN+3", "--console=pipe"],
            stdin=subprocess.DEVNULL, stdout=self.console, stderr=subprocess.STDOUT)
        self._init = None
        try:
            wait_until(self._is_up, self._console_text, 60)
            self.run("ip", "link", "set", "lo", "up")
        except BaseException:
            self.close()
            raise

    def _start_nothing_else(self):
        """What the system below starts at boot is not wanted here, and what forbids a package to start its
        service neither."""
        for each in (self.root / "etc/systemd/system").glob("*.wants"):
            shutil.rmtree(each)
        (self.root / "usr/sbin/policy-rc.d").unlink(missing_ok=True)

    def _find_init(self):
        assert self._container.poll() is None, self._console_text()
        parent = self._container.pid
        children = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return next((pid for pid in children if name_of(pid) == "systemd"), None)

    def _is_up(self):
        self._init = self._find_init()
        if self._init is None:
            return False
        state = subprocess.run([*self.enter(), "systemctl", "is-system-running"], capture_output=True, text=True)
        return state.stdout.strip() in ("running", "degraded")

    def _console_text(self):
        self.console.seek(0)
        return self.console.read()

    def enter(self):
        return ["nsenter", "--target", self._init, "--all"]

    def run(self, *command, check=True, timeout=60):
        """Its output."""
        done = subprocess.run([*self.enter(), *command], capture_output=True, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL)
        assert not check or done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}{self.journal()}"
        return done.stdout.strip()

    def show(self, unit, what):
        return self.run("systemctl", "show", "--property", what, "--value", unit)

    def journal(self):
        return self.run("journalctl", "--no-pager", "-n", "40", check=False)

    def write(self, path, text):
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def close(self):
        try:
            if self._init is not None:
                subprocess.run(["kill", "-s", POWER_OFF, self._init], check=False)
                self._container.wait(30)
        finally:
            self._container.kill()
            self._container.wait()
            self.console.close()
            subprocess.run(["umount", self.root], check=True)
            subprocess.run(["umount", self._layers], check=True)
