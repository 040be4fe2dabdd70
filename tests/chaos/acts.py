"""What is done to the system under test, and when: a pure function of the seed."""
import dataclasses
import random

# Of the life of the load, at its beginning and end, in which nothing is done.
QUIET = 1.0
# Between two acts, on average.
PAUSE = 0.35
# How often each is done. What lasts has a second half: an act of its own at its end.
WEIGHTS = {
    "kill-worker": 8, "stop-worker": 10, "join": 6, "leave": 6, "reload-server": 5,
    "restart-daemon": 3, "kill-daemon": 3, "freeze-daemon": 4, "reload-daemon": 3,
    "drain": 6, "starve-worker": 4, "starve-daemon": 3,
}
SECOND_HALF = {"stop-worker": "continue-worker", "drain": "undrain", "freeze-daemon": "thaw-daemon",
               "starve-worker": "feed-worker", "starve-daemon": "feed-daemon"}
LONGEST = {"stop-worker": 2.0, "drain": 2.0, "freeze-daemon": 1.5, "starve-worker": 2.0,
           "starve-daemon": 2.0, "restart-daemon": 1.0, "kill-daemon": 1.0}


@dataclasses.dataclass(frozen=True)
class Act:
    at: float  # seconds from the beginning
    name: str
    number: int  # joins the two halves of what lasts
    listener: int = 0  # of those that there are, modulo their number
    worker: int = 0  # likewise
    lasts: float = 0.0
    spare: int = 0  # descriptor numbers left to who is starved

    def __str__(self):
        return (f"{self.at:8.3f} {self.name} #{self.number} listener {self.listener} "
                f"worker {self.worker} lasts {self.lasts:.3f} spare {self.spare}")


def acts_of(seed, seconds):
    source = random.Random(f"acts {seed}")
    names, weights = zip(*WEIGHTS.items())
    acts = []
    now, number = QUIET, 0
    while now < seconds - QUIET:
        name = source.choices(names, weights)[0]
        # Mostly short, so that many meet others; now and then as long as may be.
        lasts = LONGEST.get(name, 0) * source.random() ** 2
        act = Act(now, name, number, source.randrange(1000), source.randrange(1000), lasts,
                  source.randrange(4))
        acts.append(act)
        if name in SECOND_HALF:
            acts.append(dataclasses.replace(act, at=now + lasts, name=SECOND_HALF[name]))
        # Half of them follow at once.
        now += source.expovariate(1 / PAUSE) if source.random() < 0.5 else source.random() * 0.02
        number += 1
    return sorted(acts, key=lambda each: each.at)
