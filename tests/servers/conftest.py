import pathlib
import signal
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import cells  # noqa: E402
from harness import checks, table  # noqa: E402
from harness.results import Results  # noqa: E402
from harness.trial import Trial  # noqa: E402
from support import figures  # noqa: E402

PATIENCE = 300


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: run with --slow only")
    config.results = Results()


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


def pytest_generate_tests(metafunc):
    """All checks of a cell after each other: they share its servers. Without --slow the slow cells
    are not there, rather than skipped: there are hundreds."""
    if "check" not in metafunc.fixturenames:
        return
    slow = metafunc.config.getoption("--slow")
    pairs = [pytest.param(cell(), check, id=f"{cell().name}, {cell().mode}: {check.title}",
                          marks=[pytest.mark.slow] if cell.slow else [])
             for cell in cells.ALL if slow or not cell.slow
             for check in checks.ALL if cell().has(check.name)]
    metafunc.parametrize("cell, check", pairs)


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--slow"):
        items[:] = [each for each in items if "slow" not in each.keywords]


@pytest.fixture(autouse=True)
def no_test_lasts_for_ever():
    """What hangs fails, and its processes are ended."""
    def too_long(_signal, _frame):
        raise AssertionError(f"the test took more than {PATIENCE} s")
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(PATIENCE)
    yield
    signal.alarm(0)


@pytest.fixture(scope="session")
def trial(pytestconfig):
    trial = Trial(pytestconfig.results)
    yield trial
    trial.close()
    pytestconfig.results.save()


def pytest_terminal_summary(terminalreporter, config):
    for line in table.lines(config.results.in_order()):
        terminalreporter.write_line(line)
    figures.write(terminalreporter)
