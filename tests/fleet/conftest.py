import os
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.fixtures import directory  # noqa: E402, F401


def pytest_collection_modifyitems(items):
    lacking = [name for name in ("haproxy", "ip") if not shutil.which(name)]
    if os.geteuid() == 0 and not lacking:
        return
    for item in items:
        item.add_marker(pytest.mark.skip(reason=f"needs root and {lacking or 'network namespaces'}"))
