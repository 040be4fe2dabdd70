"""What is known about servers is found for them, said where it is needed, and documented."""

import json
import subprocess

import pytest

from conftest import ROOT, ringdeal

SERVERS = json.loads((ROOT / "cli" / "advice.json").read_text())


def test_the_document_says_what_the_data_say():
    subprocess.run([ROOT / "scripts" / "servers-document", "--check"], check=True)


def test_every_entry_can_be_found_and_says_something():
    assert len({server["id"] for server in SERVERS}) == len(SERVERS)
    for server in SERVERS:
        assert set(server) <= {"id", "title", "names", "libraries", "must", "set", "does_not_work"}
        assert server["names"] and server["title"]
        assert server.get("must") or server.get("set") or server.get("does_not_work")


def said(tmp_path, *command, options=(), **environment):
    """What run says of a command of this name, which is another program here."""
    program = tmp_path / command[0]
    if not program.exists():
        program.symlink_to("/bin/true")
    done = ringdeal("run", *options, "--", program, *command[1:], environment=environment)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_run_says_what_a_server_cannot_do_without(tmp_path):
    line = said(tmp_path, "node", "server.js")
    assert line.startswith("ringdeal run: node: ") and line.count("\n") == 1
    assert "NODE_CLUSTER_SCHED_POLICY=none" in line


@pytest.mark.parametrize("options, environment", [
    (("--workers", 2), {}), ((), {"NODE_CLUSTER_SCHED_POLICY": "none"}),
    ((), {"RINGDEAL_LOG": "off"})])
def test_run_is_silent_about_what_is_set(tmp_path, options, environment):
    assert said(tmp_path, "node", options=options, **environment) == ""


@pytest.mark.parametrize("command", ["nginx", "gunicorn", "some-program"])
def test_run_is_silent_where_nothing_must_be_set(tmp_path, command):
    assert said(tmp_path, command) == ""


@pytest.mark.parametrize("words, server", [
    (["nginx"], "nginx"), (["php-fpm8.2"], "php-fpm"), (["python3.11"], "python"),
    (["python3", "/usr/bin/gunicorn", "app"], "gunicorn"), (["python3", "-m", "uvicorn"], "uvicorn"),
    (["nginx: worker process"], "nginx"), (["puma: cluster worker 0: 71 [app]"], "puma")])
def test_a_server_is_recognised_by_what_it_is_called_or_calls_itself(tmp_path, words, server):
    program = tmp_path / "waiting"
    subprocess.run(["cc", "-x", "c", "-", "-o", program], text=True, check=True,
                   input="#include <unistd.h>\nint main(void) { return pause(); }")
    process = subprocess.Popen(words, executable=program)
    try:
        answer = json.loads(ringdeal("doctor", process.pid, "--json").stdout)
        assert answer["processes"][0]["advice"]["server"] == server
    finally:
        process.kill()
        process.wait()
