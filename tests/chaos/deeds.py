"""Does the acts to the servers and to ringdeald, keeps what is needed to undo them, starts ringdeald again
after its ends, and tells the judge what may excuse a failure."""
import collections
import contextlib
import os
import signal
import subprocess
import time

import fleet as fleets
from support import build
from support.waiting import wait_until

REST = 30.0  # until ringdeald is back after the last act


class Deeds:
    def __init__(self, daemon, fleet, judge, acceptors):
        self.daemon = daemon
        self.fleet = fleet
        self.judge = judge
        self.acceptors = acceptors
        self.log = []
        self.done = collections.Counter()
        self.undo = {}  # by the number of an act, what its second half does
        self.daemon_due = None  # when it is to be started again
        self.daemon_frozen = False
        self.daemon_logs = []

    def note(self, act, what):
        self.log.append(f"{time.monotonic():.3f} {act}: {what}")

    def do(self, act):
        self.look_after_daemon()
        try:
            what = getattr(self, act.name.replace("-", "_"))(act)
        except (ProcessLookupError, FileNotFoundError):
            what = "nothing: it ended by itself"
        except PermissionError:  # the limit of another user's process
            what = "nothing: not permitted"
        self.note(act, what or "done")
        if not (what or "").startswith("nothing"):
            self.done[act.name] += 1

    def chosen(self, act, keeper=True):
        """A listener's server and a worker of it; not the one that must stay, unless `keeper`."""
        server = self.fleet.servers[act.listener % len(self.fleet.servers)]
        workers = server.workers()
        if not keeper and server.joins:
            workers = workers[1:]
        return server, workers[act.worker % len(workers)] if workers else None

    # --- acts on workers

    def kill_worker(self, act):
        server, pid = self.chosen(act, keeper=False)
        if pid is None:
            return "nothing: there is none"
        at = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        self.judge.worker_killed(at, pid, server.name, server.ungreeted)
        self.judge.worker_ends.append(at)
        return f"{server.name} {pid}"

    def stop_worker(self, act):
        server, pid = self.chosen(act)
        if pid is None:
            return "nothing: there is none"
        os.kill(pid, signal.SIGSTOP)
        self.undo[act.number] = lambda: os.kill(pid, signal.SIGCONT)
        return f"{server.name} {pid}"

    def starve_worker(self, act):
        server, pid = self.chosen(act)
        if pid is None or server.name == "raw":
            return "nothing: it would not bear it"
        return self.starve(act, pid, server.name)

    def starve(self, act, pid, name):
        feed = fleets.starve(pid, act.spare)
        if feed is None:
            return "nothing: it is starved already"
        self.undo[act.number] = feed
        return f"{name} {pid}"

    def second_half(self, act):
        undo = self.undo.pop(act.number, None)
        if undo is None:
            return "nothing: the first half did nothing"
        undo()
        return "done"

    continue_worker = feed_worker = feed_daemon = thaw_daemon = undrain = second_half

    def join(self, act):
        server = self.chosen(act)[0]
        if not server.joins:
            return "nothing: it has a master"
        if server.name == "raw" and not self.daemon_is_well():
            return "nothing: no ringdeald to register with"
        server.join()
        return server.name

    def leave(self, act):
        server, pid = self.chosen(act, keeper=False)
        if pid is None or not server.joins:
            return "nothing: nobody may leave"
        server.leave(pid)
        self.judge.worker_ends.append(time.monotonic())
        return f"{server.name} {pid}"

    def reload_server(self, act):
        server = self.chosen(act)[0]
        if server.joins:
            return "nothing: it has no master"
        server.reload()
        self.judge.worker_ends.append(time.monotonic())
        return server.name

    def drain(self, act):
        server, pid = self.chosen(act)
        if pid is None or not self.daemon_is_well():
            return "nothing: there is none"
        if not self.ringdeal("drain", server, pid):
            return f"nothing: {server.name} {pid} is not known"
        self.undo[act.number] = lambda: self.daemon_is_well() and self.ringdeal("undrain", server, pid)
        return f"{server.name} {pid}"

    def ringdeal(self, command, server, pid):
        """The command line, as an operator would."""
        try:
            run = subprocess.run(
                [build.COMMAND, command, "--control", self.daemon.control, "--listener", self.name_of(server),
                 "--pid", str(pid)], capture_output=True, timeout=10, check=False)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"ringdeal {command} does not end") from None
        return run.returncode == 0

    @staticmethod
    def name_of(server):
        return server.bind if server.name not in ("owned", "raw") else server.name

    # --- acts on ringdeald

    def daemon_is_well(self):
        return self.daemon_due is None and not self.daemon_frozen and self.daemon.process.running()

    def restart_daemon(self, act):
        if not self.daemon_is_well():
            return "nothing: it is not well"
        self.daemon.process.signal(signal.SIGTERM)
        self.daemon_due = time.monotonic() + act.lasts
        self.judge.daemon_ends.append(time.monotonic())
        return f"{self.daemon.pid}"

    def kill_daemon(self, act):
        if not self.daemon_is_well():
            return "nothing: it is not well"
        at = time.monotonic()
        self.daemon.process.signal(signal.SIGKILL)
        self.judge.daemon_killed(at, self.daemon.pid, self.acceptors)
        self.daemon_due = at + act.lasts
        return f"{self.daemon.pid}"

    def freeze_daemon(self, act):
        if not self.daemon_is_well():
            return "nothing: it is not well"
        process = self.daemon.process
        process.signal(signal.SIGSTOP)
        self.daemon_frozen = True

        def thaw():
            self.daemon_frozen = False
            process.signal(signal.SIGCONT)
        self.undo[act.number] = thaw
        return f"{self.daemon.pid}"

    def starve_daemon(self, act):
        if not self.daemon_is_well():
            return "nothing: it is not well"
        # It tells whether memory is readable by making a pipe, and takes it for broken if it cannot.
        if b"libubsan" in build.DAEMON.read_bytes():
            return "nothing: UndefinedBehaviorSanitizer does not bear it"
        return self.starve(act, self.daemon.pid, "ringdeald")

    def reload_daemon(self, act):
        if not self.daemon_is_well():
            return "nothing: it is not well"
        self.daemon.process.signal(signal.SIGHUP)
        return f"{self.daemon.pid}"

    def look_after_daemon(self):
        """Starts it again once it has ended and its time has come."""
        if self.daemon_due is None or self.daemon.process.running():
            assert self.daemon_due is not None or self.daemon.process.running(), "ringdeald ended by itself"
            return
        if time.monotonic() < self.daemon_due:
            return
        status = self.daemon.process.wait()
        assert status in (0, -signal.SIGKILL), f"ringdeald ended with {status}"
        self.daemon_logs.append(self.daemon.log())
        self.daemon.process.kill()
        self.daemon.start()
        self.daemon_due = None

    def calm(self):
        for number in list(self.undo):
            with contextlib.suppress(ProcessLookupError):
                self.undo.pop(number)()
        wait_until(lambda: self.look_after_daemon() or self.daemon_due is None, "ringdeald is back", REST)
