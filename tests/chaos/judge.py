"""Which failed connections are excused: those that a process had which was killed while it had them.

One that was greeted is excused by a kill of who greeted it, in the time from its greeting to its end.
One that nobody had greeted is excused by the end of a process that may have had it: of a worker of its
listener, or of ringdeald, within its life and shortly before its end, since the kernel ends what a
killed process had at once. Each such kill excuses no more than its process may have had ungreeted:
  a worker of a greeting server      as many as it accepts before it greets
  one that had been dealt to by a ringdeald which has ended since, and may not have taken what waits
  in its channel: nobody can take that back     the depth of a channel
  other servers                      what it had, which nobody knows
  ringdeald                          one for each acceptor, and the one that it takes back; and what
                                     lay in the channel of a worker that ended a moment before: it
                                     alone had that"""
import dataclasses

SHORTLY = 3.0  # from a kill to the moment at which a busy client has seen its effect
MOMENT = 1.0  # for which ringdeald may be about to take it out
CHANNEL_DEPTH = 128


@dataclasses.dataclass
class Kill:
    at: float
    pid: int
    listener: str  # "": ringdeald itself
    may_have: int
    had: int = 0

    def __str__(self):
        return f"{self.listener or 'ringdeald'} {self.pid} at {self.at:.3f}: {self.had}"


class Judge:
    def __init__(self):
        self.kills = []
        self.daemon_ends = []
        self.worker_ends = []  # times

    def worker_killed(self, at, pid, listener, may_have):
        self.kills.append(Kill(at, pid, listener, may_have))

    def daemon_killed(self, at, pid, acceptors):
        lately = any(at - MOMENT <= each <= at for each in self.worker_ends)
        self.kills.append(Kill(at, pid, "", CHANNEL_DEPTH if lately else acceptors + 1))
        self.daemon_ends.append(at)

    def excuse(self, failure):
        """The kill that excuses it, None: a fault."""
        begun, ended, holder = failure["begun"], failure["ended"], failure["holder"]
        if failure["how"] not in ("closed", "ECONNRESET", "EPIPE"):
            return None
        kills = [each for each in self.kills if begun <= each.at <= ended]
        if holder:
            return next((each for each in kills if each.pid == holder), None)
        for kill in kills:
            if kill.listener not in ("", failure["listener"]) or ended - kill.at > SHORTLY:
                continue
            orphaned = kill.listener and any(begun <= each <= kill.at for each in self.daemon_ends)
            if kill.had < (CHANNEL_DEPTH if orphaned else kill.may_have):
                kill.had += 1
                return kill
        return None

    def faults(self, failures):
        return [each for each in sorted(failures, key=lambda one: one["ended"])
                if self.excuse(each) is None]
