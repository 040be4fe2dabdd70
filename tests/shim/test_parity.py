"""What programs see of their listening descriptor: each program here checks it from inside, with the
same assertions bare, under the shim with no ringdeald, and dealt. The kernel is the judge of all."""
import itertools
import re

import pytest

from support.deviations import deviation

WAITS = ["epoll", "epoll-exclusive", "epoll-oneshot", "epoll-edge", "epoll-pwait", "epoll-pwait2",
         "two-sets", "nested", "poll", "ppoll", "select", "pselect"]
PROCESSES = ["fork", "fork-accept", "_Fork", "clone", "vfork-exec", "spawn"]
SIGNALS = [list(options) for count in range(4)
           for options in itertools.combinations(["--restart", "--time-out", "--poll"], count)]


@pytest.fixture
def check(run, surroundings):
    def check(*command, timeout=30, **variables):
        program = run(*command, preload=surroundings != "bare", **variables)
        program.wait_for_line("^ok$", timeout)
        assert program.wait() == 0, program.output()
        return program
    return check


@pytest.mark.parametrize("wait", WAITS)
def test_ready_exactly_when_a_connection_waits(check, wait):
    check("readiness", wait)


def test_accept_answers_as_the_kernel_does(check):
    check("accepting")


def test_many_threads_with_an_epoll_set_each_serve_every_connection_once(check):
    check("many_sets")


@pytest.mark.parametrize("how", PROCESSES)
def test_making_processes_while_threads_serve_loses_nothing(check, how):
    check("storm", how)


@pytest.mark.parametrize("options", SIGNALS, ids=" ".join)
def test_a_thousand_signals_a_second_lose_nothing(check, surroundings, options):
    program = check("signals", *options)
    interrupted = int(re.search(r"^EINTR (\d+)$", program.output(), re.MULTILINE).group(1))
    if surroundings == "no ringdeald":
        assert deviation("EINTR without ringdeald")
    elif options == ["--restart"]:
        assert interrupted == 0
