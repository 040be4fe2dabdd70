"""ringdeal topology: the tree of any machine with workers and receivers at their places, of real
ringdealds."""

import json
import re
import socket

import pytest

from conftest import ringdeal
from support.clients import connect
from support.fixtures import directory, join, start_daemon  # noqa: F401

TWO_PACKAGES = 'topology: "synthetic:pack:2 core:2 pu:2"'
WEB = "name: web, bind: 127.0.0.1:0"
BACK = "name: back, bind: 127.0.0.1:0"


def topology(daemon, *arguments):
    done = ringdeal("topology", "--control", daemon.control, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def below(text, heading):
    """The lines of one object of the tree: those that stand further in, without the objects in it."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().startswith(heading))
    depth = len(lines[start]) - len(lines[start].lstrip())
    found = []
    for line in lines[start + 1:]:
        if len(line) - len(line.lstrip()) != depth + 2 or "  CPUs " in line.split("slot")[0]:
            break
        found.append(line.strip())
    return found


def test_workers_and_receivers_stand_below_the_smallest_object_that_has_them(start_daemon, join):
    daemon = start_daemon(WEB, more=TWO_PACKAGES)
    for cpus in ("0-3", "5", "0-7"):
        join(daemon, cpus=cpus)
    daemon.wait_for(lambda status: {stake["slot"] for row in status["listeners"][0]["deck"]
                                    for stake in row["workers"]} == {0, 1, 2}, "a deck of all")
    text = topology(daemon)
    placed = [re.sub(r"pid \d+", "pid", line) for heading in ("machine", "package  CPUs 0-3",
                                                              "package  CPUs 4-7")
              for line in below(text, heading) if line.startswith("slot")]
    assert placed == ["slot 2  pid  worker  CPUs 0-7 (set)", "slot 0  pid  worker  CPUs 0-3 (set)",
                      "slot 1  pid  worker  CPUs 5 (set)"]
    far = [line for line in below(text, "package  CPUs 4-7") if line.startswith("CPU")]
    assert [line.partition(":")[0] for line in far] == [f"CPU {cpu} receives 12.5 %"
                                                        for cpu in range(4, 8)]
    assert far[1] == "CPU 5 receives 12.5 %: same CPU slot 1 12.5 %"


def test_a_machine_of_64_cpus_is_no_list_of_cpus(start_daemon):
    daemon = start_daemon(more='topology: "synthetic:pack:2 l3:1 core:16 pu:2"')
    lines = topology(daemon).splitlines()
    assert len(lines) == 4
    assert lines[:2] == ["no listeners", "  machine  CPUs 0-63"]
    assert lines[2].startswith("    cache  CPUs 0-31  cores 0-1 2-3 ")
    assert lines[3].startswith("    cache  CPUs 32-63  cores 32-33 ")


def test_deals_are_counted_by_nearness(start_daemon, join):
    daemon = start_daemon(WEB, more=TWO_PACKAGES)
    join(daemon, cpus="0-3")
    with connect(daemon.address()):
        deals = daemon.wait_for(lambda status: status["listeners"][0]["handoffs"]["delivered"]
                                and status["listeners"][0]["deals_by_ring"], "the deal")
        text = topology(daemon)
    assert sum(deals.values()) == 1
    names = ["same CPU", "same core", "same cache", "same package", "elsewhere"]
    counted = ", ".join(f"{name} {deals[str(ring)]}" for ring, name in enumerate(names))
    assert re.search(rf"^  dealt {counted}, turned away 0, decks [1-9]\d*$", text, re.MULTILINE)


def test_one_listener_of_several(start_daemon, join):
    daemon = start_daemon(WEB, BACK, more=TWO_PACKAGES)
    join(daemon, "back", cpus="2")
    assert [line.split()[0] for line in topology(daemon).splitlines()
            if not line.startswith(" ")] == ["web", "back"]
    text = topology(daemon, "--listener", "back")
    assert text.startswith("back  ") and "web" not in text and "CPUs 2 (set)" in text


def test_json_is_that_part_of_the_status_document(start_daemon, join):
    daemon = start_daemon(WEB, BACK, more=TWO_PACKAGES)
    join(daemon, cpus="2,3")

    def parts(status):
        """What is shown, once it is of the same deck as the status document."""
        shown = json.loads(topology(daemon, "--json"))
        pairs = list(zip(shown["listeners"], status["listeners"], strict=True))
        same = all(part[key] == whole[key] for part, whole in pairs
                   for key in part.keys() - {"workers"})
        return shown if same and shown["listeners"][0]["deck"] else None
    shown = daemon.wait_for(parts, "the same in both")
    assert shown["topology"] == daemon.status()["topology"]
    assert [each["name"] for each in shown["listeners"]] == ["web", "back"]
    assert shown["listeners"][0]["workers"][0]["cpus"] == "2-3"
    assert len(json.loads(topology(daemon, "--json", "--listener", "back"))["listeners"]) == 1


def test_a_listener_that_is_not_there_is_one_line(start_daemon):
    daemon = start_daemon(WEB)
    done = ringdeal("topology", "--control", daemon.control, "--listener", "back")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "ringdeal topology: there is no listener back\n"


def test_without_a_daemon_it_is_one_line(tmp_path):
    done = ringdeal("topology", "--control", tmp_path / "control.sock")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (111, "", 1)


@pytest.mark.parametrize("command", ["topology", "status"])
def test_a_path_with_escapes_steers_no_terminal(command, start_daemon, join, directory):
    daemon = start_daemon()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{directory}/\x1b[2Jred\n\u009b31m\u00e9")
        listener.listen()
        join(daemon, None, [listener.fileno()], passes_listener=True)
        done = ringdeal(command, "--control", daemon.control)
    assert done.returncode == 0
    assert f"unix:{directory}/?[2Jred??31m\u00e9" in done.stdout
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.stdout)
