"""The status page and its stream of events, as a browser gets them over HTTP."""
import base64
import hashlib
import json
import re
import urllib.request

import pytest


@pytest.fixture
def daemon(start_daemon):
    return start_daemon("name: web, bind: 127.0.0.1:0", http=True)


def test_the_page_may_do_nothing_but_what_it_consists_of(daemon):
    with urllib.request.urlopen(daemon.http() + "/", timeout=10) as answer:
        page, policy = answer.read().decode(), answer.headers["Content-Security-Policy"]
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "unsafe" not in policy and "default-src 'none'" in policy
    for tag, source in (("style", "style-src"), ("script", "script-src")):
        [inline] = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{source} 'sha256-{digest}'" in policy, "the browser refuses it"
    outside = re.findall(r"""(?:src|href)="(?!/|#|data:,)[^"]*""", page)
    assert not outside, "it needs something from elsewhere"
    assert not re.search(r"\son\w+=|\sstyle=", page.split("<style>")[0] + page.split("</script>")[1])


def events(stream):
    """The documents, as they come."""
    for line in stream:
        if line.startswith(b"data: "):
            yield json.loads(line[len(b"data: "):])


def test_a_stream_tells_what_changes(daemon, join):
    with urllib.request.urlopen(daemon.http() + "/events", timeout=10) as stream:
        assert stream.headers["Content-Type"] == "text/event-stream"
        told = events(stream)
        first = next(told)
        assert first["version"] == 1 and first["listeners"][0]["workers"] == []
        join()
        later = next(each for each in told if each["listeners"][0]["workers"])
        assert later["http_streams"] == 1
    daemon.wait_for(lambda status: json.loads(daemon.fetch("/status.json"))["http_streams"] == 0,
                    "a stream that its reader closes is at its end")


def test_a_stop_does_not_wait_for_open_pages(daemon):
    with urllib.request.urlopen(daemon.http() + "/events", timeout=10) as stream:
        next(events(stream))
        daemon.process.signal(15)
        assert daemon.process.wait(10) == 0
