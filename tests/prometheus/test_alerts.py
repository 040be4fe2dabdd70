"""The alert rules, by Prometheus's own unit tests, and that each has its runbook."""
import re
import subprocess

from support import build

RULES = build.SOURCE / "config/prometheus"
RUNBOOKS = (build.SOURCE / "docs/operations.md").read_text()


def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], cwd=RULES, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_rules_are_well_formed():
    promtool("check", "rules", "--lint-fatal", "alerts.yaml")


def test_each_alert_comes_when_it_should():
    promtool("test", "rules", "alerts_test.yaml")


def test_each_alert_is_tested_and_has_a_runbook():
    rules = (RULES / "alerts.yaml").read_text()
    alerts = re.findall(r"alert: (\w+)", rules)
    assert len(alerts) == 5
    tests = (RULES / "alerts_test.yaml").read_text()
    for alert in alerts:
        assert f"alertname: {alert}\n" in tests
        assert f"### {alert}\n" in RUNBOOKS
        assert f"runbook: operations.md#{alert.lower()}\n" in rules


def test_alerts_name_metrics_that_there_are():
    documented = set(re.findall(r"^\| `(ringdeal_\w+)`", (build.SOURCE / "docs/metrics.md").read_text(), re.M))
    assert set(re.findall(r"\bringdeal_\w+", (RULES / "alerts.yaml").read_text())) <= documented
