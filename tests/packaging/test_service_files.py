"""systemd and launchd can read the service files, and the sandbox is no decoration."""

import pathlib
import plistlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEMD = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(SYSTEMD is None, reason="there is no systemd-analyze")


def verify(directory, *units):
    return subprocess.run(
        [SYSTEMD, "verify", "--recursive-errors=no", "--man=no", *units],
        cwd=directory, capture_output=True, text=True,
    )


@pytest.fixture
def units(installed, tmp_path):
    """The units, with the programs named where they lie: a unit names them by the search path."""
    text = (ROOT / "systemd/ringdeal.service").read_text()
    program = installed.path("sbin/ringdeald")
    (tmp_path / "ringdeal.service").write_text(
        text.replace("ExecStart=ringdeald", f"ExecStart={program}")
        .replace("ExecStartPre=ringdeald", f"ExecStartPre={program}")
        .replace("ExecReload=ringdeal", f"ExecReload={installed.path('bin/ringdeal')}"))
    shutil.copy(ROOT / "systemd/ringdeal.socket", tmp_path)
    return tmp_path


@needs_systemd
def test_units_are_valid(units):
    run = verify(units, "./ringdeal.service", "./ringdeal.socket")
    assert run.returncode == 0 and not run.stderr, run.stderr


@needs_systemd
def test_verification_sees_a_mistake(units):
    service = units / "ringdeal.service"
    service.write_text(service.read_text().replace("Restart=always", "Restart=alway"))
    assert verify(units, "./ringdeal.service").returncode != 0


@needs_systemd
def test_drop_in_fits_a_unit(units, installed):
    target = units / "target.service"
    target.write_text("[Service]\nExecStart=/bin/true\n")
    drop_ins = units / "target.service.d"
    drop_ins.mkdir()
    shutil.copy(installed.only("preload.conf"), drop_ins / "ringdeal.conf")
    run = verify(units, "./ringdeal.service", "./target.service")
    assert run.returncode == 0 and not run.stderr, run.stderr


@needs_systemd
def test_exposure_stays_low(units):
    run = subprocess.run(
        [SYSTEMD, "security", "--offline=true", "--threshold=35", "--no-pager",
         units / "ringdeal.service"],
        capture_output=True, text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_property_list_names_an_existing_program(installed):
    with (ROOT / "launchd/org.ringdeal.ringdeald.plist").open("rb") as file:
        job = plistlib.load(file)
    assert job["ProgramArguments"][0] == "/usr/local/sbin/ringdeald"
    assert job["KeepAlive"] and job["Label"] == "org.ringdeal.ringdeald"
