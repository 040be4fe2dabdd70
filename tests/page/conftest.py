import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import needs  # noqa: E402
from support.fixtures import directory, join, start_daemon  # noqa: E402, F401


def pytest_collection_modifyitems(items):
    reason = needs.missing()
    if reason:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))
