"""A child process whose output can be waited for line by line."""
import os
import pathlib
import re
import signal
import subprocess
import threading
import time


def all_threads_stopped(pid):
    threads = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return all((each / "stat").read_text().rpartition(")")[2].split()[0] == "T" for each in threads)


class Discount:
    """What the kernel itself says that it kept these processes waiting for a CPU since this was made:
    by so much the machine, and not what is tested, may have made a wait longer."""

    def __init__(self, pids):
        self.pids = pids
        self.before = self._kept_waiting()

    def _kept_waiting(self):
        threads = [each for pid in self.pids for each in pathlib.Path(f"/proc/{pid}/task").iterdir()]
        return sum(int((each / "schedstat").read_text().split()[1]) for each in threads) * 1e-9

    def seconds(self):
        return self._kept_waiting() - self.before


class Process:
    def __init__(self, command, environment=None, preexec=None, pass_fds=(), directory=None):
        self.child = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=environment, preexec_fn=preexec, pass_fds=pass_fds,
            cwd=directory, start_new_session=True)
        self.pid = self.child.pid
        self._lines = []
        self._changed = threading.Condition()
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.child.stdout:
            with self._changed:
                self._lines.append(line.decode(errors="replace").rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def output(self):
        with self._changed:
            return "\n".join(self._lines)

    def wait_for_line(self, pattern, timeout=10.0):
        """The match of the first line, past or to come, in which `pattern` is found."""
        seen = 0

        def find():
            nonlocal seen
            for line in self._lines[seen:]:
                seen += 1
                match = re.search(pattern, line)
                if match:
                    return match
            return self._ended or None

        with self._changed:
            match = self._changed.wait_for(find, timeout)
        if not isinstance(match, re.Match):
            raise AssertionError(f"no line with {pattern!r} in:\n{self.output()}")
        return match

    def running(self):
        return self.child.poll() is None

    def signal(self, number):
        os.kill(self.pid, number)

    def wait(self, timeout=10.0):
        """The exit status, negative for a signal."""
        try:
            status = self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {timeout} s:\n{self.output()}") from None
        self._reader.join(1)  # what it said last; a child may keep its output open
        return status

    def children(self):
        """Pids of the direct children, oldest first."""
        path = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return [int(pid) for pid in path.read_text().split()] if path.exists() else []

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def kill(self):
        """Ends it and its own session's processes, whatever they do."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        self._reader.join(5)
        self.child.stdout.close()


def state(pid):
    """Its letter: "S" of one that sleeps."""
    return stat_words(pid)[0]


def ticks(pid):
    """Of the CPU that it used, a hundredth of a second each."""
    words = stat_words(pid)
    return int(words[11]) + int(words[12])


def stat_words(pid):
    """What /proc/PID/stat says after the name, which may hold spaces."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def assert_idle(pids):
    """None of them turns in circles: in half a second it uses less than a tenth."""
    used = [ticks(pid) for pid in pids]
    time.sleep(0.5)  # what is measured
    assert pids and all(ticks(pid) - before < 10 for pid, before in zip(pids, used))
