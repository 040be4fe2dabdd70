"""The configuration is read again: what is good takes effect while connections are served, what is not
changes nothing."""
import os
import re
import shutil
import signal
import socket
import subprocess

import pytest

from support import build
from support.clients import Burst, Load, connect, free_port, get
from support.daemon import ask
from support.nginx import configuration
from support.users import NOBODY, run_as
from support.waiting import wait_until
from support.worker import Refused, Worker

SERVER = build.SERVERS / "prefork_server.py"
BLOCKING = build.SERVERS / "blocking_server.py"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")


def write(daemon, *listeners, more="", control=""):
    """The file anew, with the control socket where it is."""
    text = f'control: {{path: "{daemon.control}"{control}}}\nhttp: {{bind: ""}}\n'
    text += (more if "drain_timeout" in more else more + "\ndrain_timeout: 1s") + "\n"
    if listeners:
        text += "listeners:\n" + "".join(f"  - {{{each}}}\n" for each in listeners)
    daemon.config.write_text(text)


def reload(daemon, *listeners, **options):
    """What ringdeald says has changed."""
    write(daemon, *listeners, **options)
    answer, _ = daemon.ask({"op": "reload"})
    assert answer.get("ok"), answer
    return answer["changes"]


def fail(daemon, *listeners, **options):
    """What ringdeald says is wrong; nothing of it has changed."""
    before = unchanging(daemon.status())
    write(daemon, *listeners, **options)
    return fail_as_it_is(daemon, before)


def fail_as_it_is(daemon, before):
    answer, _ = daemon.ask({"op": "reload"})
    assert answer.get("code") == "bad-configuration", answer
    assert unchanging(daemon.status()) == before
    daemon.process.wait_for_line(r"event=reload_failed reason=.*" + re.escape(answer["error"][-10:]))
    return answer["error"]


def unchanging(status):
    """Without what grows by looking at it."""
    for key in ("uptime_seconds", "control_refusals", "config_reloads",
                "config_last_reload_successful", "control_connections"):
        status.pop(key)
    for listener in status["listeners"]:
        for worker in listener["workers"]:
            worker.pop("pass_seconds")
    return status


def member(daemon, closing, listener="web"):
    worker = Worker(daemon, listener)
    return closing.add(worker, worker.close).become()


def web(*more, bind="127.0.0.1:0"):
    return ", ".join(("name: web", f'bind: "{bind}"', "recall_after: 1min", *more))


# --- what is wrong

@pytest.fixture
def dealt(start_daemon, closing):
    """A ringdeald with a listener and a worker that has taken a connection."""
    daemon = start_daemon(web())
    worker = member(daemon, closing)
    with Burst(daemon.address(), 1):
        assert worker.readable(10) and worker.take()
        yield daemon, worker


def still_deals(daemon, worker):
    with Burst(daemon.address(), 1):
        assert worker.readable(10) and worker.take()


def test_an_invalid_file_changes_nothing_and_says_where(dealt):
    daemon, worker = dealt
    assert f"{daemon.config}:6:" in fail(daemon, web("policy: fastest"))
    status = daemon.status()
    assert status["config_reloads"] == {"applied": 0, "failed": 1}
    assert status["config_last_reload_successful"] is False
    still_deals(daemon, worker)


def test_a_file_that_vanished_changes_nothing(dealt):
    daemon, worker = dealt
    before = unchanging(daemon.status())
    daemon.config.unlink()
    assert "cannot be opened" in fail_as_it_is(daemon, before)
    still_deals(daemon, worker)


def test_a_topology_that_cannot_be_read_changes_nothing(dealt):
    daemon, worker = dealt
    assert "topology" in fail(daemon, web("policy: least-loaded"), more="topology: /nonexistent.xml")
    still_deals(daemon, worker)


def test_of_several_listeners_none_is_opened_if_one_cannot_be(dealt, directory):
    daemon, worker = dealt
    path = directory / "new.sock"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        error = fail(daemon, web("policy: least-loaded"), f'name: new, bind: "unix:{path}"',
                     'name: taken, bind: "127.0.0.1:%d"' % taken.getsockname()[1])
    assert "taken" in error and "another process has the address" in error
    assert not path.exists(), "nothing is left of what was opened in vain"
    still_deals(daemon, worker)
    assert reload(daemon, web("policy: least-loaded"), f'name: new, bind: "unix:{path}"')
    assert daemon.status()["config_last_reload_successful"]


# --- what is changed

def test_a_policy_is_changed_and_counts_are_kept(start_daemon, closing):
    daemon = start_daemon(web())
    workers = [member(daemon, closing) for _ in range(2)]
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: [each["pending"] for each in daemon.workers()] == [4, 4])
        before = daemon.listener()
        for policy in "least-loaded", "round-robin", "exact-claim", "ring-deal":
            assert reload(daemon, web(f"policy: {policy}")) == "changed: web (policy)"
            now = daemon.listener()
            assert now["policy"] == policy
            for key in "accepted", "handoffs", "workers_joined", "workers_left", "deals_by_ring":
                assert now[key] == before[key], key
            assert [each["handed"] for each in now["workers"]] == [4, 4]
        assert [len(worker.take_all()) for worker in workers] == [4, 4]
        # By turns, whatever they hold.
        reload(daemon, web("policy: round-robin"))
        workers[0].close_connection(workers[0].connections[0])
        with Burst(daemon.address(), 8):
            daemon.wait_for(lambda _: sum(each["pending"] for each in daemon.workers()) == 8)
            assert [each["pending"] for each in daemon.workers()] == [4, 4]


def test_a_policy_without_a_deck_gets_one_and_loses_it(start_daemon, closing):
    daemon = start_daemon(web("policy: least-loaded"))
    member(daemon, closing)
    assert not daemon.listener()["deck"]
    reload(daemon, web("policy: ring-deal"))
    assert daemon.listener()["deck"]
    reload(daemon, web("policy: least-loaded"))
    assert not daemon.listener()["deck"]


def test_a_raised_limit_ends_a_hold(start_daemon, closing):
    daemon = start_daemon(web("max_active: 4"))
    worker = member(daemon, closing)
    with Burst(daemon.address(), 8):
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding")
        assert daemon.listener()["accepted"] == 4
        assert reload(daemon, web("max_active: 6")) == "changed: web (max_active)"
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "holding"
                        and daemon.listener()["accepted"] == 6)
        reload(daemon, web())
        daemon.wait_for(lambda _: daemon.listener()["accepted"] == 8)
        assert len(worker.take_all()) == 8


def test_a_rate_that_is_gone_holds_nothing_back(start_daemon, closing):
    daemon = start_daemon(web("max_accept_rate: 1"))
    worker = member(daemon, closing)
    with Burst(daemon.address(), 16):  # for longer than is waited for
        daemon.wait_for(lambda _: daemon.listener()["mode"] == "limited")
        assert reload(daemon, web()) == "changed: web (max_accept_rate)"
        daemon.wait_for(lambda _: daemon.listener()["accepted"] == 16)
        assert len(worker.take_all()) == 16


def test_share_listener_and_the_bounds_on_workers_are_for_those_to_come(start_daemon, closing):
    daemon = start_daemon(web())
    assert member(daemon, closing).listener is not None
    reload(daemon, web("share_listener: false"), more="limits: {workers: 2}")
    assert member(daemon, closing).listener is None
    with pytest.raises(Refused) as refused:
        Worker(daemon)
    assert refused.value.code == "too-many-workers"


def test_adopted_listeners_are_changed_too(start_daemon, target):
    daemon = start_daemon()
    target([build.PYTHON, SERVER, "127.0.0.1:0", "2"], daemon).address()
    daemon.wait_for_workers(2)
    changes = reload(daemon, more="adopted: {policy: round-robin}\nlog: {level: debug}")
    assert changes == "changed: adopted.policy, log.level"
    assert daemon.listener()["policy"] == "round-robin" and not daemon.listener()["owned"]


def test_a_limit_ends_direct_mode_and_its_end_begins_it_again(start_daemon, target):
    daemon = start_daemon("name: web, bind: '127.0.0.1:0'")
    where = target([build.PYTHON, SERVER, "%s:%d" % daemon.address(), "1"], daemon).address()
    daemon.wait_for_workers(1)

    def accepted_by_ringdeald():
        before = daemon.listener()["accepted"]
        with connect(where) as connection:
            get(connection)
        return daemon.listener()["accepted"] > before

    def is_direct():
        return not accepted_by_ringdeald() and daemon.listener()["mode"] == "direct"
    for _ in range(2):
        wait_until(is_direct, lambda: f"direct\n{daemon.listener()}")
        reload(daemon, "name: web, bind: '127.0.0.1:0', max_active: 100")
        wait_until(accepted_by_ringdeald, lambda: f"dealt\n{daemon.listener()}")
        assert daemon.listener()["mode"] == "handoff"
        reload(daemon, "name: web, bind: '127.0.0.1:0'")


def test_a_unix_sockets_mode_is_changed(start_daemon, directory):
    path = directory / "web.sock"
    daemon = start_daemon(f'name: web, bind: "unix:{path}"')
    assert path.stat().st_mode & 0o777 == 0o660
    reload(daemon, f'name: web, bind: "unix:{path}", mode: 0600')
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_backlog_is_changed(start_daemon):
    daemon = start_daemon(web("backlog: 100"))
    assert backlog_of(daemon) == 100
    reload(daemon, web("backlog: 50"))
    assert backlog_of(daemon) == 50


def backlog_of(daemon):
    listing = subprocess.run(["ss", "-ltnH", "sport", "=", ":%d" % daemon.address()[1]],
                             capture_output=True, text=True, check=True).stdout
    return int(listing.split()[2])


def test_the_format_of_the_log_is_changed(start_daemon):
    daemon = start_daemon(web())
    reload(daemon, web(), more="log: {format: json}")
    daemon.process.wait_for_line(r'^\{"ts":.*"event":"reloaded"')


def test_what_needs_a_restart_says_so_and_the_rest_takes_effect(start_daemon):
    daemon = start_daemon(web())
    for _ in range(2):  # it is said again, as it is still so
        changes = reload(daemon, web("policy: least-loaded"), more="acceptors: 2",
                         control=", mode: 0600")
        assert changes.endswith("needs a restart: acceptors, control.mode")
    assert daemon.listener()["policy"] == "least-loaded"


# --- who and how

def test_sighup_reloads(start_daemon):
    daemon = start_daemon(web())
    write(daemon, web("policy: least-loaded"))
    daemon.process.signal(signal.SIGHUP)
    daemon.process.wait_for_line(r"event=reloaded changes=.*web \(policy\)")
    assert daemon.listener()["policy"] == "least-loaded"
    assert daemon.status()["config_reloads"] == {"applied": 1, "failed": 0}


@needs_root
def test_admins_may_reload_and_are_those_of_the_file_that_was_read(start_daemon):
    daemon = start_daemon(web())

    def ask_as_nobody():
        def request(path):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(path)
                return ask(connection, {"op": "reload"})[0]
        return run_as(NOBODY, request, daemon.control)
    assert ask_as_nobody()["code"] == "not-allowed"
    reload(daemon, web(), control=f", admin: [{NOBODY}]")
    assert ask_as_nobody()["changes"] == "nothing changed"
    write(daemon, web())
    assert ask_as_nobody()["changes"] == "changed: control.admin"
    assert ask_as_nobody()["code"] == "not-allowed"


def test_no_door_leads_to_a_reload(start_daemon):
    """Who sends through one may have made a socket that root connected to."""
    daemon = start_daemon(web())
    door = daemon.ask({"op": "bind", "version": 1, "address": "127.0.0.1:1"})[1][0]
    here, there = socket.socketpair()
    with here, socket.socket(fileno=door) as opened:
        socket.send_fds(opened, [b"d"], [there.fileno()])
        there.close()
        here.settimeout(10)
        assert ask(here, {"op": "reload"})[0]["code"] == "not-allowed"


def test_the_command_prints_what_changed_or_what_is_wrong(start_daemon):
    daemon = start_daemon(web())

    def command():
        done = subprocess.run([build.COMMAND, "reload", "--control", daemon.control],
                              capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr
    write(daemon, web("policy: least-loaded"))
    assert command() == (0, "changed: web (policy)\n", "")
    write(daemon, web("polcy: least-loaded"))
    code, out, error = command()
    assert (code, out) == (1, "")
    assert re.fullmatch(rf"ringdeal reload: {daemon.config}:\d+:\d+: unknown key 'polcy'.*\n", error)


def test_the_service_manager_is_told(start_daemon, directory, closing):
    path = str(directory / "notify.sock")
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    closing.add(manager, manager.close)
    manager.bind(path)
    manager.settimeout(10)
    daemon = start_daemon(web(), environment={"NOTIFY_SOCKET": path})

    def told(count):
        return [manager.recv(100) for _ in range(count)]
    assert told(3)[2].startswith(b"READY=1")  # after what it is to keep
    reload(daemon)
    reloading, forgotten, ready = told(3)
    assert re.fullmatch(rb"RELOADING=1\nMONOTONIC_USEC=\d+", reloading)
    assert (forgotten, ready) == (b"FDSTOREREMOVE=1\nFDNAME=@web", b"READY=1")


# --- listeners come and go

def take_to_the_end(worker):
    """How many connections come before the channel ends."""
    count = 0
    try:
        while worker.readable(10):
            count += worker.take() is not None
    except EOFError:
        return count
    raise AssertionError("the channel does not end")


def test_an_added_listener_serves(start_daemon, target):
    daemon = start_daemon(web())
    where = f"127.0.0.1:{free_port()}"
    assert reload(daemon, web(), f'name: more, bind: "{where}"').startswith("added: more")
    server = target([build.PYTHON, SERVER, where, "2"], daemon)
    daemon.wait_for_workers(2, name="more")
    with Burst(server.address(), 8) as burst:
        assert sorted(burst.spread().values()) == [4, 4]
    assert daemon.listener("more")["owned"]


def test_a_name_that_an_adopted_listener_has_is_refused_at_another_address(start_daemon, target,
                                                                            directory):
    """Its name is that of its listener before a restart of ringdeald."""
    address = f"127.0.0.1:{free_port()}"
    daemon = start_daemon(f'name: web, bind: "{address}"')
    target([build.PYTHON, SERVER, address, "2"], daemon).address()
    daemon.wait_for_workers(2)
    daemon.process.signal(signal.SIGTERM)
    assert daemon.process.wait(10) == 0
    write(daemon)
    daemon.start()
    daemon.wait_for_workers(2)
    assert [(each["name"], each["owned"]) for each in daemon.status()["listeners"]] == [("web", False)]
    path = directory / "new.sock"
    assert "choose another" in fail(daemon, f'name: web, bind: "unix:{path}"')
    assert not path.exists()


def start_server(program, start_daemon, target, more="", workers=2):
    """A ringdeald, its server and the server's address."""
    address = f"127.0.0.1:{free_port()}"
    daemon = start_daemon(f'name: web, bind: "{address}"', more=more)
    server = target([build.PYTHON, program, address, str(workers)], daemon)
    where = server.address()
    daemon.wait_for_workers(workers)
    return daemon, address, where


def goes_on(load):
    finished = load.finished
    wait_until(lambda: load.finished > finished + 50, "requests go on")


@pytest.mark.parametrize("program, workers", [(SERVER, 2), (SERVER, 1), (BLOCKING, 2)],
                         ids=["events", "direct", "blocking"])
def test_under_load_a_listener_is_removed_and_its_server_goes_on(program, workers, start_daemon,
                                                                 target):
    daemon, _, where = start_server(program, start_daemon, target, "adopt: false", workers)
    load = Load(where, concurrency=4)
    try:
        goes_on(load)
        if workers == 1:
            daemon.wait_for(lambda _: daemon.listener()["mode"] == "direct")
        assert reload(daemon, more="adopt: false").startswith("removed: web")
        daemon.process.wait_for_line("event=removed listener=web")
        assert daemon.status()["listeners"] == []
        goes_on(load)
    finally:
        load.stop()
    assert not load.failures, load.failures


def test_what_was_removed_is_adopted_where_that_is_allowed_and_had_back_by_its_name(start_daemon,
                                                                                    target):
    daemon, address, where = start_server(SERVER, start_daemon, target)
    load = Load(where, concurrency=4)
    try:
        for _ in range(3):
            goes_on(load)
            reload(daemon)
            daemon.wait_for(lambda status: [(each["owned"], len(each["workers"])) for each in
                                            status["listeners"]] == [(False, 2)], "adopted")
            goes_on(load)
            reload(daemon, f'name: web, bind: "{address}"')
            daemon.wait_for(lambda status: [(each["name"], each["owned"], len(each["workers"]))
                                            for each in status["listeners"]] == [("web", True, 2)],
                            "had back")
    finally:
        load.stop()
    assert not load.failures, load.failures


def test_what_is_in_a_channel_is_taken_before_its_worker_is_left_to_itself(start_daemon, closing):
    daemon = start_daemon(web())
    worker = member(daemon, closing)
    where = daemon.address()
    with Burst(where, 4):
        daemon.wait_for(lambda _: daemon.workers()[0]["pending"] == 4)
        reload(daemon, more="drain_timeout: 1min")
        assert daemon.status()["listeners"] == []
        assert [worker.take() is not None for _ in range(3)] == [True] * 3
        assert worker.control.send(b'{"op":"ready"}\n'), "it is still registered"
        with connect(where):
            assert worker.take()
            # Accepted just before the end, or left in the accept queue: the worker's either way.
            if not take_to_the_end(worker):
                worker.listener.accept()[0].close()
    daemon.process.wait_for_line("event=removed listener=web")


def test_a_worker_that_never_comes_keeps_a_removed_listener_no_longer_than_drain_timeout(start_daemon,
                                                                                         closing):
    daemon = start_daemon(web())
    worker = member(daemon, closing)
    with Burst(daemon.address(), 4):
        daemon.wait_for(lambda _: daemon.workers()[0]["pending"] == 4)
        reload(daemon, more="drain_timeout: 10ms")
        daemon.process.wait_for_line("event=removed listener=web")
        # As at a stop of ringdeald, what is in its channel is its own.
        assert take_to_the_end(worker) == 4


def test_the_connection_in_hand_is_handed_over_before_the_listener_goes(start_daemon, closing,
                                                                         failpoint):
    point = failpoint("accepted")
    daemon = start_daemon(web(), environment=point.environment)
    worker = member(daemon, closing)
    with Burst(daemon.address(), 1):
        _, release = point.wait()
        reload(daemon, more="drain_timeout: 1min")
        assert not worker.readable(0.05), "the listener has neither gone nor handed it over"
        release()
        assert take_to_the_end(worker) == 1


def test_what_old_workers_of_a_removed_listener_leave_goes_to_new_ones(start_daemon, closing):
    daemon = start_daemon(web(), more="adopt: false")
    old = member(daemon, closing)
    with Burst(daemon.address(), 4):
        daemon.wait_for(lambda _: daemon.workers()[0]["pending"] == 4)
        reload(daemon, more="adopt: false\ndrain_timeout: 1min")
        new = Worker(daemon, None, [old.listener.fileno()], passes_listener=True)
        closing.add(new, new.close).become()
        old.close()
        assert take_to_the_end(new) == 4


def test_a_stop_deals_what_a_removed_listener_still_keeps(start_daemon, closing):
    daemon = start_daemon(web())
    worker, other = member(daemon, closing), member(daemon, closing)
    other.page.state = 3  # paused
    with Burst(daemon.address(), 1):
        daemon.wait_for(lambda _: daemon.workers()[worker.slot]["pending"] == 1)
        worker.close()
        daemon.wait_for(lambda _: daemon.listener()["kept"] == 1)
        reload(daemon, more="drain_timeout: 1min")
        daemon.process.signal(signal.SIGTERM)
        daemon.process.wait_for_line("event=stopping")
        other.become()
        assert other.readable(10) and other.take()
        assert daemon.process.wait(10) == 0


def test_what_a_removed_listener_keeps_goes_to_a_drained_worker_if_no_other_is_there(start_daemon,
                                                                                     closing):
    daemon = start_daemon(web())
    worker, drained = member(daemon, closing), Worker(daemon)
    closing.add(drained, drained.close)
    with Burst(daemon.address(), 2):
        daemon.wait_for(lambda _: daemon.workers()[worker.slot]["pending"] == 2)
        drained.become()
        assert daemon.ask({"op": "drain", "listener": "web", "slot": drained.slot})[0]["ok"]
        worker.close()
        daemon.wait_for(lambda _: daemon.listener()["kept"] == 2)
        reload(daemon, more="drain_timeout: 1min")
        for _ in range(2):
            assert drained.readable(10) and drained.take()
        daemon.process.wait_for_line("event=removed listener=web")


def test_connections_kept_for_want_of_a_worker_are_dealt_before_the_listener_goes(start_daemon,
                                                                                  closing):
    daemon = start_daemon(web())
    worker, other = member(daemon, closing), member(daemon, closing)
    other.page.state = 3  # paused: what the first one leaves waits for it
    with Burst(daemon.address(), 2):
        daemon.wait_for(lambda _: daemon.workers()[worker.slot]["pending"] == 2)
        worker.close()
        daemon.wait_for(lambda _: daemon.listener()["kept"] == 2)
        reload(daemon, more="drain_timeout: 1min")
        other.become()
        for _ in range(2):
            assert other.readable(10) and other.take()
        daemon.process.wait_for_line("event=removed listener=web")


def test_a_changed_address_is_a_new_listener_under_the_old_name(start_daemon, closing):
    daemon = start_daemon(web())
    old = member(daemon, closing)
    before = daemon.address()
    assert reload(daemon, web(bind=f"127.0.0.1:{free_port()}")).startswith(
        "added: web; removed: web")
    assert daemon.address() != before and daemon.workers() == []
    assert take_to_the_end(old) == 0
    new = member(daemon, closing)
    with Burst(daemon.address(), 1):
        assert new.readable(10) and new.take()


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
@needs_root
def test_twenty_reloads_under_load_fail_no_request_of_nginx(start_daemon, target, tmp_path):
    where = ("127.0.0.1", free_port())
    listener = "name: web, bind: '%s:%d'" % where
    daemon = start_daemon(listener)
    file = tmp_path / "nginx.conf"
    file.write_text(configuration(tmp_path, "%s:%d" % where,
                                  main="user nobody nogroup; error_log stderr notice;"))
    target([NGINX, "-c", file, "-p", tmp_path, "-e", "stderr"], daemon)
    daemon.wait_for_workers(2)
    load = Load(where, concurrency=8)
    policies = ["least-loaded", "round-robin", "exact-claim", "ring-deal"]
    try:
        for turn in range(20):
            more = f"policy: {policies[turn % 4]}, backlog: {100 + turn}, max_active: {turn % 2 * 6}"
            others = [f"name: other{turn}, bind: '127.0.0.1:0'"] * (turn % 3 > 0)
            reload(daemon, f"{listener}, {more}", *others)
            finished = load.finished
            daemon.wait_for(lambda _: load.finished > finished + 20, "requests go on")
    finally:
        load.stop()
    assert not load.failures, load.failures
    assert daemon.listener("web")["workers_joined"] == 2, "its workers stayed"


def test_an_adopted_server_whose_workers_share_a_port_is_had_back_whole(start_daemon, closing,
                                                                        sharing_sockets):
    daemon = start_daemon(leaks_allowed=True)  # a listener of two sockets where there was none
    port, ones = sharing_sockets(2)

    def join(one):
        worker = Worker(daemon, None, [one.fileno()], passes_listener=True)
        return closing.add(worker, worker.close)
    workers = [join(one) for one in ones]
    reload(daemon, web(bind=f"127.0.0.1:{port}"))
    for worker in workers:
        with pytest.raises(EOFError):
            worker.channel.setblocking(True)
            worker.take(0)
    for one in ones:
        join(one)
    assert [(each["name"], len(each["workers"])) for each in daemon.status()["listeners"]] == [("web", 2)]
