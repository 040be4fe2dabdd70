"""ringdeal doctor: each answer, from a real process that is in that state."""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile

import pytest

from conftest import PROGRAMS, children_of, ringdeal
from support import build
from support.clients import connect, get
from support.daemon import Daemon
from support.fixtures import directory, start_daemon  # noqa: F401
from support.process import Process
from support.target import Target
from support.users import NOBODY, become, run_as
from support.waiting import wait_until
from support.worker import LEFT, OBSERVER, PAUSED, WORKER, Worker
from test_daemon_commands import status_daemon

STATE = [build.PYTHON, pathlib.Path(__file__).parent / "programs" / "state.py"]
LONE = [build.PYTHON, PROGRAMS / "lone_server.py"]
PREFORK = [build.PYTHON, PROGRAMS / "prefork_server.py"]
BLOCKING = [build.PYTHON, PROGRAMS / "blocking_server.py"]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


class Answer:
    def __init__(self, done):
        self.exit_code = done.returncode
        assert done.stderr == "", done.stderr
        self.report = json.loads(done.stdout)
        self.dealt = self.report["dealt"]
        assert (self.exit_code == 0) == self.dealt

    def codes(self, pid=None):
        """Of one process, or about none."""
        if pid is None:
            return [each["code"] for each in self.report["findings"]]
        return [each["code"] for each in self.process(pid)["findings"]]

    def process(self, pid):
        return next(each for each in self.report["processes"] if each["pid"] == pid)

    def text(self, pid, code):
        return next(each["text"] for each in self.process(pid)["findings"] if each["code"] == code)


def doctor(target, control=None, environment=None):
    arguments = ["--control", control] if control else []
    return Answer(ringdeal("doctor", target, "--json", *arguments, environment=environment))


def codes_of(pid, **options):
    answer = doctor(pid, **options)
    assert answer.report["target"] == str(pid)
    return answer.codes(pid)


@pytest.fixture
def daemon(start_daemon):
    return start_daemon("name: web, bind: 127.0.0.1:0")


@pytest.fixture
def web(daemon):
    """The owned address as text."""
    return "%s:%d" % daemon.address()


@pytest.fixture
def start(daemon):  # ends before it
    """A program under the shim, or bare."""
    started = []

    def run(command, *arguments, shim=True, **options):
        target = Target([*command, *arguments], daemon if shim else None, **options)
        started.append(target)
        return target
    yield run
    for target in started:
        target.close()


@pytest.fixture
def state(start):
    """A program in one of the states of programs/state.py."""
    def run(*words, **options):
        target = start(STATE, *words, **options)
        target.process.wait_for_line("^ready$")
        return target
    return run


@pytest.fixture
def member(daemon):
    """This very process as a worker, by the protocol."""
    joined = []

    def join(state):
        joined.append(Worker(daemon).become(state))
        return joined[-1]
    yield join
    for worker in joined:
        worker.close()


# --- what it is to ringdeald

def test_a_process_that_is_dealt_connections(start, daemon, web):
    server = start(LONE, web)
    with connect(server.address()) as connection:
        get(connection)
        answer = doctor(server.pid, daemon.control)
    assert answer.dealt
    # It is alone, so it may accept by itself by now.
    codes = [code for code in answer.codes(server.pid) if code != "direct"]
    assert codes == ["dealt", "shim-loaded"]
    assert "1 are open, 1 were handed" in answer.text(server.pid, "dealt")


def test_the_control_socket_of_the_process_is_the_one_that_is_asked(start, web):
    server = start(LONE, web)
    with connect(server.address()) as connection:
        get(connection)
        environment = {"RINGDEAL_CONTROL": "", "XDG_RUNTIME_DIR": "/nowhere"}
        assert doctor(server.pid, environment=environment).dealt


def test_a_master_is_dealt_by_its_workers(start, daemon, web):
    server = start(PREFORK, web, 2)
    server.address()
    wait_until(lambda: doctor(server.pid, daemon.control).dealt, daemon.status)
    assert codes_of(server.pid, control=daemon.control) == ["master", "shim-loaded"]


def test_an_observer(start, daemon, web):
    server = start(LONE, web)
    server.address()
    daemon.wait_for_workers(1, "observer")
    assert codes_of(server.pid, control=daemon.control) == ["observer", "shim-loaded"]


def test_a_worker_that_blocks_in_accept(start, daemon, web):
    server = start(BLOCKING, web, 1)
    server.address()
    worker = daemon.wait_for_workers(1)[0]["pid"]
    assert codes_of(worker, control=daemon.control)[:2] == ["dealt", "one-at-a-time"]


def test_a_busy_worker(start, daemon, web):
    server = start(PREFORK, web, 1)
    with connect(server.address()) as connection:
        worker = int(get(connection))
        connection.sendall(b"GET /block/20000 HTTP/1.1\r\n\r\n")
        wait_until(lambda: "busy" in codes_of(worker, control=daemon.control), daemon.status)


@pytest.mark.parametrize("state, code", [(0, "starting"), (OBSERVER, "observer"),
                                         (PAUSED, "paused"), (LEFT, "left"), (99, "left")])
def test_a_member_that_is_given_nothing(member, daemon, state, code):
    member(state)
    answer = doctor(os.getpid(), daemon.control)
    assert answer.codes(os.getpid())[0] == code
    assert not answer.dealt


def test_a_worker_that_is_being_drained(member, daemon):
    worker = member(WORKER)
    assert codes_of(os.getpid(), control=daemon.control)[0] == "dealt"
    daemon.ask({"op": "drain", "listener": "web", "slot": worker.slot})
    assert codes_of(os.getpid(), control=daemon.control)[0] == "draining"


def test_a_listener_for_which_nobody_can_be_dealt_to(member, daemon):
    member(PAUSED)
    with connect(daemon.address()):
        daemon.wait_for(lambda status: status["listeners"][0]["mode"] == "holding")
        assert codes_of(os.getpid(), control=daemon.control)[:2] == ["paused", "holding"]


@pytest.mark.parametrize("mode, code", [("paused", "accept-failed"), ("limited", "limited"),
                                        ("resetting", "resetting"), ("direct", "direct")])
def test_a_listener_that_accepts_nothing_for_a_while(tmp_path, mode, code):
    """ringdeald at its limit answers no tool, so the document is one that it gave earlier."""
    worker = {"slot": 0, "pid": os.getpid(), "state": "worker"}
    document = {"version": 1, "listeners": [
        {"name": "web", "address": "127.0.0.1:1", "mode": mode, "workers": [worker]}]}
    with status_daemon(tmp_path, json.dumps(document).encode()) as stand_in:
        assert codes_of(os.getpid(), control=stand_in.path)[:2] == ["dealt", code]


def test_without_ringdeald(start, tmp_path):
    server = start(LONE, "127.0.0.1:0", shim=False)
    server.address()
    codes = codes_of(server.pid, control=str(tmp_path / "none.sock"))
    assert codes == ["no-ringdeald", "shim-not-loaded", "listens"]


# --- the program

def test_no_such_process():
    ended = subprocess.Popen(["true"])
    ended.wait()
    answer = doctor(ended.pid)
    assert answer.codes(ended.pid) == ["no-process"]


def test_a_program_without_the_shim(start, daemon):
    server = start(LONE, "127.0.0.1:0", shim=False)
    server.address()
    assert codes_of(server.pid, control=daemon.control) == ["shim-not-loaded", "unknown-listener"]


def test_a_shim_that_could_not_be_loaded(state, daemon, tmp_path):
    missing = tmp_path / "libringdeal-preload.so"
    server = state("none", shim=False, environment={"LD_PRELOAD": str(missing)})
    assert codes_of(server.pid, control=daemon.control) == ["preload-failed", "no-listener"]


def compiled(tmp_path, source, *options):
    program = tmp_path / "program"
    subprocess.run(["cc", "-x", "c", "-", "-o", program, *options], input=source, text=True,
                   check=True)
    return [program]


def test_a_static_program(start, daemon, tmp_path):
    program = compiled(tmp_path, "#include <unistd.h>\nint main(void) { return pause(); }", "-static")
    assert codes_of(start(program).pid, control=daemon.control)[0] == "static"


def test_a_go_program(start, daemon, tmp_path):
    """Known by the note that the Go linker leaves, in any kind of executable."""
    source = """
    #include <unistd.h>
    __asm__(".pushsection .note.go.buildid, \\"a\\", %note\\n"
            ".long 3, 4, 4\\n.asciz \\"Go\\"\\n.byte 0\\n.long 0\\n.popsection");
    int main(void) { return pause(); }"""
    assert codes_of(start(compiled(tmp_path, source)).pid, control=daemon.control)[0] == "go"


@as_root
def test_a_program_that_gained_privileges(start, daemon, directory):
    program = shutil.copy(shutil.which("sleep"), directory)
    os.chown(program, NOBODY, NOBODY)
    os.chmod(program, 0o4755)
    server = start([program], "60")
    wait_until(lambda: "setuid" in codes_of(server.pid, control=daemon.control), "executed")


def test_another_preload_library(state, daemon, tmp_path):
    other = compiled(tmp_path, "int nothing;", "-shared", "-fPIC")[0].rename(tmp_path / "other.so")
    server = state("none", shim=False, environment={"LD_PRELOAD": f"{other}:{build.SHIM}"})
    answer = doctor(server.pid, daemon.control)
    assert answer.codes(server.pid)[:2] == ["shim-loaded", "other-preload"]
    assert str(other) in answer.text(server.pid, "other-preload")


def test_a_shim_that_was_told_to_stay_out(state, daemon):
    server = state("listen", environment={"RINGDEAL_DISABLE": "1"})
    assert "disabled" in codes_of(server.pid, control=daemon.control)


def test_an_address_that_is_not_among_those_that_are_meant(state, daemon):
    server = state("listen", environment={"RINGDEAL_LISTENERS": "127.0.0.1:1,:2"})
    assert codes_of(server.pid, control=daemon.control) == ["shim-loaded", "excluded"]


def test_a_program_of_another_ringdeald(state, daemon, tmp_path):
    other = str(tmp_path / "other.sock")
    server = state("listen", environment={"RINGDEAL_CONTROL": other})
    assert "other-control" in codes_of(server.pid, control=daemon.control)


@as_root
def test_a_program_that_cannot_know_where_ringdeald_is(state, daemon):
    server = state("none", environment={"RINGDEAL_CONTROL": "", "XDG_RUNTIME_DIR": ""},
                   preexec=become(NOBODY))
    assert "no-control" in codes_of(server.pid, control=daemon.control)


def test_an_environment_that_was_overwritten(state, daemon):
    server = state("environment")
    assert "environment-unknown" in codes_of(server.pid, control=daemon.control)


@pytest.mark.parametrize("code, word", [
    ("io-uring", "io-uring"), ("seccomp", "seccomp"),
    pytest.param("other-root", "root", marks=as_root),
    pytest.param("other-network", "network", marks=as_root)])
def test_a_program_that_is_confined(start, daemon, code, word):
    server = start(STATE, word, shim=False)
    if not server.process.wait_for_line(".").string.startswith("ready"):
        pytest.skip(f"not possible here: {server.process.output()}")
    codes = codes_of(server.pid, control=daemon.control)
    assert [each for each in codes if each in ("io-uring", "seccomp", "other-root",
                                               "other-network")] == [code]


def test_a_listener_in_another_network_namespace_is_seen(start, daemon):
    program = start([shutil.which("unshare"), "--net", *STATE], "listen", "127.0.0.1:0", shim=False)
    if not program.process.wait_for_line(".").string.startswith("port"):
        pytest.skip(f"not possible here: {program.process.output()}")
    port = program.process.wait_for_line(r"port (\d+)").group(1)
    assert f"127.0.0.1:{port}" in doctor(program.pid, daemon.control).text(program.pid,
                                                                           "unknown-listener")


@as_root
def test_a_process_that_may_not_be_looked_into(state, daemon):
    server = state("listen")
    done = run_as(NOBODY, lambda: ringdeal("doctor", server.pid, "--json", "--control",
                                           daemon.control).stdout)
    report = json.loads(done)
    assert [each["code"] for each in report["processes"][0]["findings"]] == ["not-visible"]


# --- its listeners

def test_a_program_that_listens_on_nothing(state, daemon):
    server = state("none")
    assert codes_of(server.pid, control=daemon.control) == ["shim-loaded", "no-listener"]


@as_root
def test_a_user_who_may_not_bind_an_owned_address(state, daemon):
    server = state("none", preexec=become(NOBODY))
    answer = doctor(server.pid, daemon.control)
    assert answer.codes(server.pid) == ["shim-loaded", "no-listener", "not-allowed"]
    assert f"User {NOBODY} may not bind" in answer.text(server.pid, "not-allowed")


def test_a_holder_that_has_not_joined(state, daemon, web):
    server = state("listen", web)
    assert codes_of(server.pid, control=daemon.control) == ["shim-loaded", "not-joined"]


def test_a_listener_that_ringdeald_has_not_heard_of(state, daemon):
    server = state("listen")
    assert codes_of(server.pid, control=daemon.control) == ["shim-loaded", "unknown-listener"]


def test_a_user_whose_listeners_are_not_adopted(start_daemon, directory):
    other = tempfile.TemporaryDirectory(prefix="ringdeal-", dir=directory)
    adopting = Daemon(other.name, more="adopt: false")
    server = Target([*STATE, "listen"], adopting)
    try:
        server.process.wait_for_line("^ready$")
        assert codes_of(server.pid, control=adopting.control) == ["shim-loaded", "not-authorised"]
    finally:
        server.close()
        adopting.stop()
        other.cleanup()


@pytest.mark.parametrize("path", ["{}/server.sock", "@{}"])
def test_unix_listeners_have_addresses_too(daemon, tmp_path, path):
    with socket.socket(socket.AF_UNIX) as listener:
        name = path.format(tmp_path)
        listener.bind(name.replace("@", "\0"))
        listener.listen()
        answer = doctor(os.getpid(), daemon.control)
        assert f"unix:{name}: " in answer.text(os.getpid(), "unknown-listener")
        assert doctor(f"unix:{name}", daemon.control).process(os.getpid())


# --- an address

def test_all_that_listen_at_an_address_are_told_of(start, daemon, web):
    server = start(PREFORK, web, 2)
    server.address()
    wait_until(lambda: doctor(web, daemon.control).dealt, daemon.status)
    pids = {each["pid"] for each in doctor(web, daemon.control).report["processes"]}
    assert pids == {server.pid, *children_of(server.pid)}


def test_one_process_beside_the_dealt_ones_is_enough_for_not_dealt(start, state, daemon, web):
    server = start(LONE, web)
    with connect(server.address()) as connection:
        get(connection)
        assert doctor(web, daemon.control).dealt
        other = state("listen", web)
        answer = doctor(web, daemon.control)
    assert not answer.dealt
    assert answer.process(server.pid)["dealt"] and not answer.process(other.pid)["dealt"]


def test_an_address_where_nobody_listens(daemon):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        answer = doctor("127.0.0.1:%d" % bound.getsockname()[1], daemon.control)
    assert (answer.codes(), answer.report["processes"]) == (["nobody-listens"], [])


def test_an_address_where_only_ringdeald_listens(daemon, web):
    assert doctor(web, daemon.control).codes() == ["only-ringdeald"]


@as_root
def test_an_address_whose_listeners_may_not_be_seen(state, daemon):
    server = state("listen")
    port = server.process.wait_for_line(r"port (\d+)").group(1)
    done = run_as(NOBODY, lambda: ringdeal("doctor", f"127.0.0.1:{port}", "--json", "--control",
                                           daemon.control).stdout)
    assert [each["code"] for each in json.loads(done)["findings"]] == ["not-all-visible"]


# --- its form

def test_the_sentences_are_the_same_as_text(start, daemon, web):
    server = start(LONE, web)
    with connect(server.address()) as connection:
        get(connection)
        done = ringdeal("doctor", server.pid, "--control", daemon.control)
        report = doctor(server.pid, daemon.control).process(server.pid)
    lines = done.stdout.splitlines()
    assert lines[0] == f"{report['name']}, process {server.pid}: dealt"
    assert [line.strip() for line in lines[1:3]] == [each["text"] for each in report["findings"]]


@pytest.mark.parametrize("target", ["0", "-1", "localhost:80", "99999999999", ""])
def test_what_is_neither_a_process_nor_an_address_is_usage(target):
    assert ringdeal("doctor", target).returncode == 100


def test_every_answer_is_documented_and_tried():
    source = (build.SOURCE / "cli" / "diagnosis.cc").read_text() + (
        build.SOURCE / "cli" / "doctor.cc").read_text()
    codes = set(re.findall(r'(?:Say\(|\{\{?)\s*"([a-z-]+)",', source)) - {"target"}
    manual = (build.SOURCE / "docs" / "operations.md").read_text()
    section = manual[manual.index("## ringdeal doctor"):]
    rows = re.findall(r"^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \|", section.split("\n## ")[0], re.MULTILINE)
    assert set(re.findall("[a-z-]+", " ".join(rows))) == codes
    tests = pathlib.Path(__file__).read_text()
    assert not [code for code in codes if f'"{code}"' not in tests]
