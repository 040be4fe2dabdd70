import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.fixtures import directory, join, start_daemon  # noqa: E402, F401


def pytest_collection_modifyitems(items):
    if shutil.which("prometheus") and shutil.which("promtool"):
        return
    for item in items:
        item.add_marker(pytest.mark.skip(
            reason="there is no Prometheus: run scripts/install-dependencies --page"))
