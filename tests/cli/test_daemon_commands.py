"""status, drain, reload and check: what they ask of ringdeald, and what they say without one."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import threading

import pytest

from conftest import BINARY, PATIENCE, ringdeal

WORKER = {"slot": 0, "pid": 71, "state": "worker", "active": 3, "pending": 1, "handed": 12,
          "recalled": 0, "taken": 11, "closed": 8, "direct": 0, "cpus": "0-1", "placement": "set"}
DOCUMENT = {"version": 1, "listeners": [
    {"name": "web", "address": "127.0.0.1:8080", "policy": "least-loaded", "mode": "handoff",
     "workers": [{**WORKER, "slot": slot} for slot in range(500)]},
    {"name": "idle", "address": "unix:/run/x.sock", "policy": "round-robin", "mode": "holding",
     "workers": []}]}


class Daemon:
    """Answers one request over a control socket, as docs/protocol.md has it."""

    def __init__(self, path, pieces, document=None):
        self.path = str(path)
        self.pieces = pieces
        self.document = document
        self.request = None
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(1)
        self.thread = threading.Thread(target=self.serve)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.thread.join(PATIENCE)
        self.listener.close()

    def serve(self):
        connection, _ = self.listener.accept()
        with connection, contextlib.ExitStack() as opened:
            self.request = json.loads(connection.makefile("r").readline())
            descriptors = []
            if self.document is not None:
                memory = os.memfd_create("status")
                opened.callback(os.close, memory)
                os.write(memory, self.document)
                descriptors = [memory]
            for piece in self.pieces:
                socket.send_fds(connection, [piece], descriptors)
                descriptors = []


def status_daemon(tmp_path, document):
    answer = b'{"ok":true,"bytes":%d}\n' % len(document)
    # In two pieces: a stream has no message boundaries.
    return Daemon(tmp_path / "control.sock", [answer[:5], answer[5:]], document)


def test_status_prints_a_long_document_verbatim(tmp_path):
    document = json.dumps(DOCUMENT).encode()
    assert len(document) > 65536
    with status_daemon(tmp_path, document) as daemon:
        done = ringdeal("status", "--json", "--control", daemon.path)
    assert daemon.request == {"op": "status"}
    assert (done.returncode, done.stdout) == (0, document.decode() + "\n")


def test_status_shows_listeners_and_workers(tmp_path):
    with status_daemon(tmp_path, json.dumps(DOCUMENT).encode()) as daemon:
        done = ringdeal("status", "--control", daemon.path)
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0].split() == ["web", "127.0.0.1:8080", "least-loaded", "handoff"]
    assert lines[1].split()[:4] == ["slot", "pid", "state", "active"]
    assert lines[2].split() == ["0", "71", "worker", "3", "1", "12", "0", "11", "8", "0", "0-1",
                                "(set)"]
    assert lines[-2:] == ["idle  unix:/run/x.sock  round-robin  holding", "  no workers"]


@pytest.mark.parametrize("document", [b"", b"no json", b"[]", b'{"listeners":[{"name":3}]}'])
def test_a_document_that_is_not_understood_is_one_line(tmp_path, document):
    with status_daemon(tmp_path, document) as daemon:
        done = ringdeal("status", "--control", daemon.path)
    assert done.returncode == 111
    assert done.stderr == "ringdeal status: the status document cannot be read\n"


def test_without_a_daemon_status_is_one_line(tmp_path):
    path = str(tmp_path / "control.sock")
    done = ringdeal("status", "--control", path)
    assert (done.returncode, done.stdout) == (111, "")
    assert done.stderr == f"ringdeal status: no ringdeald at {path}: No such file or directory\n"


def test_a_daemon_that_hangs_up_is_one_line(tmp_path):
    with Daemon(tmp_path / "control.sock", []) as daemon:
        done = ringdeal("status", "--control", daemon.path)
    assert done.returncode == 111
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["drain", "undrain"])
@pytest.mark.parametrize("worker", ["pid", "slot"])
def test_drain_names_the_worker(tmp_path, command, worker):
    with Daemon(tmp_path / "control.sock", [b'{"ok":true}\n']) as daemon:
        done = ringdeal(command, "--control", daemon.path, "--listener", 'w"eb', f"--{worker}", "7")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert daemon.request == {"op": command, "listener": 'w"eb', worker: 7}


def test_drain_says_why_it_was_refused(tmp_path):
    answer = b'{"error":"there is no listener web","code":"unknown-listener"}\n'
    with Daemon(tmp_path / "control.sock", [answer]) as daemon:
        done = ringdeal("drain", "--control", daemon.path, "--listener", "web", "--pid", "7")
    assert (done.returncode, done.stderr) == (1, "ringdeal: there is no listener web\n")


@pytest.mark.parametrize("worker", [[], ["--pid", "1", "--slot", "1"], ["--slot", "-1"]])
def test_drain_of_no_or_two_workers_is_usage(worker):
    assert ringdeal("drain", "--listener", "web", *worker).returncode == 100


def test_reload_prints_in_one_line_what_has_changed(tmp_path):
    answer = b'{"ok":true,"changes":"changed: w\\u001beb (policy)"}\n'
    with Daemon(tmp_path / "control.sock", [answer]) as daemon:
        done = ringdeal("reload", "--control", daemon.path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "changed: w?eb (policy)\n", "")
    assert daemon.request == {"op": "reload"}


def test_reload_says_what_is_wrong_with_the_file(tmp_path):
    answer = b'{"error":"/a.yaml:4:5: unknown key \'x\'","code":"bad-configuration"}\n'
    with Daemon(tmp_path / "control.sock", [answer]) as daemon:
        done = ringdeal("reload", "--control", daemon.path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "ringdeal reload: /a.yaml:4:5: unknown key 'x'\n"


def test_reload_without_a_daemon_is_one_line(tmp_path):
    path = str(tmp_path / "control.sock")
    done = ringdeal("reload", "--control", path)
    assert (done.returncode, done.stdout) == (111, "")
    assert done.stderr == f"ringdeal reload: no ringdeald at {path}: No such file or directory\n"


def test_check_gives_the_file_to_the_daemon_beside_it(tmp_path):
    shutil.copy(BINARY, tmp_path / "ringdeal")
    daemon = tmp_path / "ringdeald"
    daemon.write_text('#!/bin/sh\necho "$@"\nexit 42\n')
    daemon.chmod(0o755)
    done = subprocess.run([tmp_path / "ringdeal", "check", "a file.yaml"], capture_output=True,
                          text=True)
    assert (done.returncode, done.stdout) == (42, "--config a file.yaml --check\n")


def test_check_without_a_daemon_is_one_line(tmp_path):
    shutil.copy(BINARY, tmp_path / "ringdeal")
    done = subprocess.run([tmp_path / "ringdeal", "check", "x.yaml"], capture_output=True, text=True,
                          env={"PATH": str(tmp_path)})
    assert done.returncode == 111
    assert done.stderr.startswith("ringdeal check: cannot run ringdeald: ")
