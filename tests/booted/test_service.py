"""ringdeald from its package, under systemd, before nginx as Debian has it: whatever is done to it, no request
fails."""
import json

import pytest

from support.waiting import wait_until

UNIT = "ringdeal.service"


def main_process(machine):
    return machine.show(UNIT, "MainPID")


def workers(machine):
    """The processes that the IPv4 listener is dealt to."""
    said = machine.run("ringdeal", "status", "--json", check=False)
    listeners = json.loads(said)["listeners"] if said else []
    return [each["pid"] for listener in listeners if listener["address"] == "0.0.0.0:80"
            for each in listener["workers"] if each["state"] == "worker"]


def wait_until_dealt(machine):
    wait_until(lambda: len(workers(machine)) >= 2, lambda: "two workers\n" + machine.journal(), 30)


def wait_for_another(machine, before):
    wait_until(lambda: main_process(machine) not in ("0", before)
               and machine.show(UNIT, "ActiveState") == "active",
               lambda: "another ringdeald\n" + machine.journal(), 30)
    wait_until_dealt(machine)


def test_it_runs_as_its_own_user_without_capabilities(booted):
    status = dict(line.split(":\t", 1) for line in booted.run(
        "cat", f"/proc/{main_process(booted)}/status").splitlines() if ":\t" in line)
    assert booted.run("id", "-u", "ringdeal") in status["Uid"].split()
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


def test_packaged_units_are_valid(booted):
    said = booted.run("sh", "-c", "systemd-analyze verify --man=no --recursive-errors=no ringdeal.service "
                      "ringdeald@api.service ringdeal.socket ringdeal-app.socket 2>&1")
    assert said == ""


def test_packaged_nginx_is_dealt_evenly(booted):
    wait_until_dealt(booted)
    said = json.loads(booted.run("ringdeal", "spread", "127.0.0.1:80", "-n", "16", "--json"))
    assert said["max"] - said["min"] <= 1 and len(said["workers"]) >= 2


def test_reload_under_load(booted, load):
    wait_until_dealt(booted)
    before = main_process(booted)
    booted.run("systemctl", "reload", UNIT)
    load.wait_for_more()
    assert main_process(booted) == before


def test_restart_under_load(booted, load):
    wait_until_dealt(booted)
    before = main_process(booted)
    booted.run("systemctl", "restart", UNIT)
    wait_for_another(booted, before)


@pytest.mark.parametrize("number", ["KILL", "STOP"])
def test_killed_or_frozen_under_load_it_is_replaced(booted, load, number):
    wait_until_dealt(booted)
    before = main_process(booted)
    booted.run("kill", "-s", number, before)
    wait_for_another(booted, before)


def test_upgrade_under_load(booted, load):
    wait_until_dealt(booted)
    before = main_process(booted)
    booted.run("sh", "-c", "dpkg -i /root/ringdeald_*.deb")
    wait_for_another(booted, before)


def test_descriptor_store_gives_a_listener_back(booted):
    booted.write("/etc/ringdeal/ringdeal.yaml",
                 "listeners:\n  - {name: web, bind: 127.0.0.1:8080}\n")
    before = main_process(booted)
    booted.run("systemctl", "restart", UNIT)
    wait_until(lambda: booted.show(UNIT, "NFileDescriptorStore") == "1", "it is stored", 10)
    same = booted.run("sh", "-c", "ss -Hltne sport = :8080 | grep -o 'ino:[0-9]*'")
    booted.run("systemctl", "restart", UNIT)
    wait_for_another(booted, before)
    assert booted.run("sh", "-c", "ss -Hltne sport = :8080 | grep -o 'ino:[0-9]*'") == same
    assert booted.show(UNIT, "NFileDescriptorStore") == "1"


def test_journal_has_priorities_and_events(booted):
    lines = [json.loads(line) for line in booted.run(
        "journalctl", "-u", UNIT, "-o", "json", "--no-pager", "_COMM=ringdeald").splitlines()]
    started = [line for line in lines if " event=started " in line["MESSAGE"]]
    assert started and all(line["PRIORITY"] == "6" for line in started)
    assert all("level=info" in line["MESSAGE"] for line in started)


def test_an_instance_has_a_control_socket_and_a_port_of_its_own(booted):
    booted.write("/etc/ringdeal/api/ringdeal.yaml",
                 (booted.root / "usr/share/doc/ringdeal/examples/ringdeal.instance.yaml").read_text())
    booted.run("systemctl", "start", "ringdeald@api.service")
    said = booted.run("ringdeal", "status", "--control", "/run/ringdeal/api/control.sock")
    assert "127.0.0.1:8081" in said
    booted.run("curl", "-sf", "http://127.0.0.1:9946/healthz")
    assert booted.show(UNIT, "ActiveState") == "active"


def test_purged_it_leaves_nothing(booted):
    booted.run("rm", "-r", "/etc/systemd/system/nginx.service.d")
    booted.run("dpkg", "--purge", "ringdeald", timeout=120)
    left = [str(path) for path in booted.changes.rglob("*ringdeal*") if path.exists()
            and not path.is_relative_to(booted.changes / "root") and "journal" not in path.parts]
    assert left == []
    assert "ringdeal" not in (booted.root / "etc/passwd").read_text()
    booted.run("curl", "-sf", "http://127.0.0.1:80/")  # nginx goes on by itself
