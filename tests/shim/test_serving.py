"""Programs that serve a client of the test and check what they see from inside, with the shim and
without."""
import subprocess

import pytest

from conftest import PROGRAMS


@pytest.fixture
def start(run, surroundings):
    def start(*command):
        return run(*command, preload=surroundings != "bare")
    return start


def serve(program, helpers, clients):
    port = helpers.port_of(program)
    for _ in range(clients):
        assert helpers.ask(port) == "served"
    program.wait_for_line("^ok$")
    assert program.wait() == 0, program.output()


def test_calls_before_every_constructor_and_after_main_are_answered_as_ever(start, helpers):
    serve(start("early"), helpers, 1)


def test_waits_by_the_fortified_calls_see_a_connection(start, helpers):
    symbols = subprocess.run(["nm", "-D", PROGRAMS / "fortified"], capture_output=True, text=True,
                             check=True).stdout
    assert {"__poll_chk", "__ppoll_chk", "__fdelt_chk"} <= {
        line.split()[-1].split("@")[0] for line in symbols.splitlines()}
    serve(start("fortified"), helpers, 3)


def test_workers_that_wait_by_turns_under_a_lock_leave_no_client_waiting(start, helpers, directory):
    program = start("taking_turns.py", str(directory / "lock"))
    port = helpers.port_of(program)
    for _ in range(100):
        assert int(helpers.ask(port)) > 0
    program.kill()  # before ringdeald looks whether all has left
