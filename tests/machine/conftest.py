import pathlib
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import kernel  # noqa: E402
import machine  # noqa: E402
import needs  # noqa: E402
import ramdisk  # noqa: E402
from rounds import Run  # noqa: E402


@pytest.fixture(scope="session")
def run():
    """What came to pass in the machine, which is started once."""
    figures = ramdisk.PROGRAMS / "figures"
    figures.unlink(missing_ok=True)
    reason = needs.missing()
    if reason:
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="ringdeal-") as path:
        directory = pathlib.Path(path)
        (directory / "root").mkdir()
        ramdisk.write(directory / "ramdisk", directory / "root")
        run = Run(machine.run(kernel.PATH, directory / "ramdisk", directory))
    figures.write_text("".join(each.figures() + "\n" for each in run.rounds.values()))
    return run
