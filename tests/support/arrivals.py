"""Connections that arrive by a schedule, many a second, whatever becomes of those before them: the
program tests/integration/programs/arrivals.c."""
import re
import signal

from support import build
from support.process import Process
from support.waiting import wait_until

COUNTED = ("refused", "reset", "closed", "unanswered", "failed")


class Arrivals:
    """`rate`: connections a second to be offered to a port on loopback, from now on until `stop`.
    `most`: how many may be under way at once, beyond which none is offered."""

    def __init__(self, port, rate, most=12000):
        self.asked_rate = rate
        self.process = Process([build.PROGRAMS / "arrivals", port, rate, most])

    def now(self):
        """The counts so far, by name."""
        lines = [line for line in self.process.output().splitlines() if line.startswith("offered")]
        words = (lines or ["offered 0 answered 0"])[-1].split()
        return dict(zip(words[::2], map(float, words[1::2])))

    def go_on(self, count):
        """Until so many more are answered."""
        answered = self.now()["answered"]
        wait_until(lambda: self.now()["answered"] >= answered + count,
                   lambda: f"{count} more than {answered:.0f} are answered\n{self.process.output()}", 40)

    def go_on_past_now(self):
        """Until as many more are answered as are under way."""
        now = self.now()
        self.go_on(now["offered"] - now["answered"] + 1)

    def stop(self):
        """Offers no more and waits for those under way. Returns `self`, with the counts of `failures`
        that are not 0, `by_pid` (count and longest wait in milliseconds) and `figure`, a line."""
        self.process.signal(signal.SIGTERM)
        self.process.wait_for_line("^done$", 60)
        self.counts = self.now()
        self.failures = {name: int(self.counts[name]) for name in COUNTED if self.counts[name]}
        self.by_pid = {int(pid): (int(count), float(longest)) for pid, count, longest in re.findall(
            r"by (\d+) count (\d+) longest_ms ([\d.]+)", self.process.output())}
        accounted = self.counts["answered"] + sum(self.failures.values())
        assert accounted == self.counts["offered"], self.counts
        self.figure = ("{offered:.0f} connections, {rate:.0f} a second of {asked} that were asked for, "
                       "longest wait {longest_ms:.0f} ms".format(asked=self.asked_rate, **self.counts))
        return self

    def close(self):
        self.process.kill()
