"""What HAProxy's agent check is told: it follows drains, deaths, slow workers and limits."""
import socket

from support.clients import Burst, connect
from support.waiting import wait_until
from support.worker import Worker


def agent_of(daemon, name="web"):
    host, port = daemon.process.wait_for_line(
        rf"event=agent listener={name} address=\"?([\d.]+):(\d+)").groups()
    return host, int(port)


def said(address, sent=b""):
    with connect(address) as connection:
        connection.sendall(sent)
        answer = b""
        while more := connection.recv(100):
            answer += more
        return answer


def join(daemon, closing, **options):
    worker = Worker(daemon, **options)
    return closing.add(worker, worker.close).become()


def started(start_daemon, more=""):
    return start_daemon(f"name: web, bind: 127.0.0.1:0, agent: 127.0.0.1:0{more}")


def test_it_says_which_part_of_the_weight_the_host_should_have(start_daemon, closing):
    daemon = started(start_daemon)
    agent = agent_of(daemon)
    assert said(agent) == b"down\n"
    first, second = (join(daemon, closing, weight=weight) for weight in (3, 1))
    assert said(agent) == b"ready up 100%\n"
    assert said(agent, b"web1\n") == b"ready up 100%\n"  # HAProxy's agent-send
    daemon.ask({"op": "drain", "listener": "web", "slot": first.slot})
    assert said(agent) == b"ready up 25%\n"
    daemon.ask({"op": "drain", "listener": "web", "slot": second.slot})
    assert said(agent) == b"drain\n"
    daemon.ask({"op": "undrain", "listener": "web", "slot": first.slot})
    assert said(agent) == b"ready up 75%\n"
    first.close()
    second.close()
    daemon.wait_for(lambda status: not status["listeners"][0]["workers"])
    assert said(agent) == b"down\n"


def test_a_limit_that_is_near_counts(start_daemon, closing):
    daemon = started(start_daemon, ", max_active: 8")
    worker = join(daemon, closing)
    with Burst(daemon.address(), 6):
        daemon.wait_for(lambda _: daemon.workers()[0]["handed"] == 6)
        worker.take_all()
        assert said(agent_of(daemon)) == b"ready up 25%\n"


def test_a_reload_opens_and_closes_it(start_daemon):
    daemon = start_daemon("name: web, bind: 127.0.0.1:0")
    text = daemon.config.read_text()
    daemon.config.write_text(text.replace("bind: 127.0.0.1:0}", "bind: 127.0.0.1:0, agent: 127.0.0.1:0}"))
    assert daemon.ask({"op": "reload"})[0]["ok"]
    agent = agent_of(daemon)
    assert said(agent) == b"down\n"
    with socket.socket() as taken:  # an address that cannot be had changes nothing
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        daemon.config.write_text(text.replace("bind: 127.0.0.1:0}", f"bind: 127.0.0.1:0, agent: 127.0.0.1:{port}}}"))
        assert "agent of web" in daemon.ask({"op": "reload"})[0]["error"]
        assert said(agent) == b"down\n"
    daemon.config.write_text(text)
    assert daemon.ask({"op": "reload"})[0]["ok"]
    wait_until(lambda: refuses(agent), "it is closed")


def refuses(address):
    try:
        connect(address).close()
        return False
    except ConnectionRefusedError:
        return True
