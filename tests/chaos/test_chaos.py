"""Chaos for a while, and what decides whether something went wrong in it."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from acts import SECOND_HALF, acts_of  # noqa: E402
from judge import Judge  # noqa: E402


def failed(begun, ended, holder=0, how="closed", listener="web"):
    return {"listener": listener, "begun": begun, "ended": ended, "holder": holder, "how": how}


def test_the_acts_are_a_function_of_the_seed():
    assert acts_of(1, 60) == acts_of(1, 60) != acts_of(2, 60)
    names = [each.name for each in acts_of(1, 600)]
    for first, second in SECOND_HALF.items():
        assert names.count(first) == names.count(second) > 0


def test_nothing_is_excused_without_a_kill():
    judge = Judge()
    assert judge.faults([failed(1, 2), failed(1, 2, holder=7)])
    judge.worker_killed(1.5, 7, "web", 1)
    assert judge.faults([failed(1, 1.4, holder=7)]), "before it"
    assert judge.faults([failed(1.6, 2, holder=7)]), "after it"
    assert judge.faults([failed(1, 2, holder=8)]), "another had it"
    assert judge.faults([failed(1, 2, listener="app")]), "of another listener"
    assert judge.faults([failed(1, 2, holder=7, how="no answer")]), "a kill ends what it had"
    assert judge.faults([failed(1, 2, how="ECONNREFUSED")])
    assert judge.faults([failed(1, 9)]), "a kill ends it at once"
    assert not judge.faults([failed(1, 2, holder=7)])


def test_a_kill_excuses_no_more_than_its_process_may_have_had():
    judge = Judge()
    judge.worker_killed(1.5, 7, "web", 1)
    assert len(judge.faults([failed(1, 2)] * 3 + [failed(1, 2, holder=7)])) == 2
    judge = Judge()
    judge.daemon_killed(1.5, 7, 2)
    assert len(judge.faults([failed(1, 2)] * 4)) == 1


def test_nothing_is_lost_and_nothing_left(request):
    seconds, seed = (request.config.getoption(each) for each in ("--seconds", "--seed"))
    command = [sys.executable, HERE / "chaos.py", "--seconds", str(seconds)]
    if seed is not None:
        command += ["--seed", str(seed)]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         errors="replace", timeout=seconds + 240, check=False)
    print(run.stdout)
    assert run.returncode == 0, "the seed, the acts and what every process said stand above"
