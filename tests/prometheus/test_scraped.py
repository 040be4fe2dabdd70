"""A real Prometheus scrapes a real run: it has every documented metric and no other, takes each sample, and
each query of the Grafana dashboard and of the manual has a result."""
import json
import pathlib
import re
import resource
import signal
import urllib.error
import urllib.parse
import urllib.request

import pytest

from support import build
from support.clients import Burst, free_port
from support.daemon import Daemon
from support.process import Process
from support.target import Target
from support.waiting import wait_until

MANUAL = (build.SOURCE / "docs/metrics.md").read_text()
DASHBOARD = json.loads((build.SOURCE / "config/grafana/ringdeal.json").read_text())
SCRAPES = 12
IS_CONDITION = re.compile(r"[<>=] ?\d+$")  # which need not be met here


class Prometheus:
    def __init__(self, directory, target):
        self.url = f"http://127.0.0.1:{free_port()}"
        config = directory / "prometheus.yml"
        config.write_text(f"""
global: {{scrape_interval: 1s}}
rule_files: ["{build.SOURCE}/config/prometheus/alerts.yaml"]
scrape_configs: [{{job_name: ringdeal, static_configs: [{{targets: ["{target}"]}}]}}]
""")
        self.process = Process(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory}/tsdb",
                                f"--web.listen-address={self.url[7:]}"])

    def ask(self, path, **parameters):
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error

    def query(self, text):
        return self.ask("query", query=text)["result"]

    def is_ready(self):
        try:
            with urllib.request.urlopen(self.url + "/-/ready", timeout=10):
                return True
        except OSError:  # it does not listen yet, or says that it is not
            return False

    def scrapes(self):
        found = self.query('count_over_time(up{job="ringdeal"}[5m])')
        return int(found[0]["value"][1]) if found else 0

    def wait_for_scrapes(self, count):
        wait_until(self.is_ready, self.process.output, 60)
        wait_until(lambda: self.scrapes() >= count, self.process.output, 60)


def cause_events(daemon):
    """One of each, so that each metric has a sample."""
    with daemon.connect() as connection:
        connection.sendall(b'{"op":"nonsense"}\n')
        assert b"unknown-op" in connection.recv(4096)
    daemon.process.signal(signal.SIGHUP)
    wait_until(lambda: fails_to_accept(daemon), "an accept fails")


def fails_to_accept(daemon):
    address = daemon.address()
    soft, hard = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (3, hard))
    try:
        with Burst(address, 1) as burst:
            burst.answers(timeout=0.05)
    finally:
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (soft, hard))
    return daemon.listener()["accept_errors"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A Prometheus that has seen a server of two workers for some seconds."""
    directory = pathlib.Path(tmp_path_factory.mktemp("run"))
    daemon = Daemon(directory, ["name: web, bind: 127.0.0.1:0"], http=True)
    server = Target([build.PYTHON, build.SERVERS / "prefork_server.py", "%s:%d" % daemon.address(), "2"], daemon)
    processes = []
    try:
        server.address()
        daemon.wait_for_workers(2)
        cause_events(daemon)
        prometheus = Prometheus(directory, daemon.http()[7:])
        processes.append(prometheus.process)
        with Burst(daemon.address(), 16) as burst:
            burst.answers()
            prometheus.wait_for_scrapes(SCRAPES)
            yield prometheus
    finally:
        for process in processes:
            process.kill()
        server.close()
        daemon.stop()


def test_each_metric_is_there_and_no_other(run):
    documented = set(re.findall(r"^\| `(ringdeal_\w+)`", MANUAL, re.M))
    scraped = set(run.ask("label/__name__/values", **{"match[]": '{job="ringdeal"}'}))
    own = {"up", "ALERTS", "ALERTS_FOR_STATE"}  # Prometheus's
    scraped = {name for name in scraped - own if not name.startswith("scrape_")}
    assert scraped == documented


def test_no_sample_is_rejected(run):
    assert all(value == "1" for series in run.query('up{job="ringdeal"}[5m]') for _, value in series["values"])
    left = run.query("scrape_samples_scraped - scrape_samples_post_metric_relabeling")
    assert [each["value"][1] for each in left] == ["0"]
    assert not re.search(r"level=(warn|error).*(scrape|sample)", run.process.output())


def test_the_rules_are_in_force_and_none_fires(run):
    groups = run.ask("rules")["groups"]
    assert {each["health"] for group in groups for each in group["rules"]} <= {"ok", "unknown"}
    assert not [each for each in run.ask("alerts")["alerts"] if each["state"] == "firing"]


def queries_of_the_dashboard():
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]


def test_each_query_of_the_dashboard_has_a_result(run):
    empty = []
    for expression in queries_of_the_dashboard():
        plain = expression.replace("$__rate_interval", "30s").replace("$instance", ".*").replace("$listener", ".*")
        assert "$" not in plain
        if not run.query(plain):
            empty.append(plain)
    assert not empty


def queries_of_the_manual():
    table = MANUAL.partition("## What to watch")[2].partition("\n## ")[0]
    return [each.replace("\\|", "|") for each in re.findall(r"`([^`]*ringdeal_[^`]*)`", table)]


def test_each_query_of_the_manual_is_one(run):
    empty = [each for each in queries_of_the_manual() if not run.query(each)]
    assert [each for each in empty if not IS_CONDITION.search(each)] == []
