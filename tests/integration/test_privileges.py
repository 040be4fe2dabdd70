"""Programs that give up root and their root directory between listen and accept are dealt to."""
import os

import pytest

from support import build
from support.clients import Burst
from support.users import NOBODY

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give it up")


@pytest.mark.parametrize("kind", ["owned", "adopted"])
def test_setuid_and_chroot_between_listen_and_accept(kind, start_daemon, target, tmp_path):
    daemon = start_daemon(*(["name: web, bind: 127.0.0.1:0"] if kind == "owned" else []))
    address = "%s:%d" % daemon.address() if kind == "owned" else "127.0.0.1:0"
    server = target([build.PYTHON, build.SOURCE / "tests/integration/programs/jailed_server.py",
                     address, "2", tmp_path, NOBODY], daemon)
    where = server.address()
    assert [each["uid"] for each in daemon.wait_for_workers(2)] == [NOBODY, NOBODY]
    for _ in range(3):
        with Burst(where, 32) as burst:
            assert sorted(burst.spread().values()) == [16, 16]
        daemon.wait_for(lambda _: all(each["active"] == 0 for each in daemon.workers()))
