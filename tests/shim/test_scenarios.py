"""What programs do with their listening descriptors: programs/scenario.py asserts the same with the
shim and without, so that the kernel is the judge of both."""
import threading

import pytest

from support.deviations import deviation

QUIET = ["asked_about", "flags", "close_on_exec_survives", "time_out", "close_ranges",
         "closed_by_thread", "shut_by_thread",
         "given_to_subprocess", "inherited", "unix_listener", "leaves_nothing_to_another_image",
         "closed_twice", "closed_while_watched", "two_of_the_kernels_choice"]
ONE_CONNECTION = ["options", "shut_down", "unconnect", "listens_anew_while_watched",
                  "closed_number_is_free",
                  "sits_on_every_number", "interrupted", "added_before_bind", "closed_stdio",
                  "called_by_number", "listens_again", "becomes_a_daemon",
                  "replaced_by_its_duplicate"]
MORE = {"accept_flags": 32, "short_address": 2, "duplicates": 2, "two_threads": 5}
SHIM_ALONE = {"closed_by_thread": deviation("closing wakes accept")}


@pytest.mark.parametrize("name", QUIET + ONE_CONNECTION + list(MORE))
def test_scenario(run, helpers, surroundings, name):
    if name in SHIM_ALONE and surroundings != "ringdeald":
        pytest.skip(SHIM_ALONE[name])
    program = run("scenario.py", name, preload=surroundings != "bare")
    connections = 1 if name in ONE_CONNECTION else MORE.get(name, 0)
    if connections:
        port = helpers.port_of(program)
        threads = [threading.Thread(target=helpers.ask, args=(port,)) for _ in range(connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    program.wait_for_line("^ok$")
    assert program.wait() == 0, program.output()
