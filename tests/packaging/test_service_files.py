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


SERVICES = "ringdeal.service", "ringdeald@.service"
SOCKETS = "ringdeal.socket", "ringdeal-app.socket"
DROP_INS = "preload.conf", "nginx.conf", "php-fpm.conf", "gunicorn.conf"


@pytest.fixture
def units(installed, tmp_path):
    """The units, with the programs named where they lie: a unit names them by the search path."""
    program = installed.path("sbin/ringdeald")
    for name in SERVICES:
        text = installed.only(name).read_text()
        (tmp_path / name).write_text(
            text.replace("ExecStart=ringdeald", f"ExecStart={program}")
            .replace("ExecStartPre=ringdeald", f"ExecStartPre={program}")
            .replace("ExecReload=ringdeal", f"ExecReload={installed.path('bin/ringdeal')}"))
    for name in SOCKETS:
        shutil.copy(installed.only(name), tmp_path)
    return tmp_path


def add_drop_in(unit, drop_in):
    directory = unit.parent / f"{unit.name}.d"
    directory.mkdir()
    shutil.copy(drop_in, directory / "ringdeal.conf")


@needs_systemd
def test_units_are_valid(units):
    run = verify(units, "./ringdeal.service", "./ringdeald@api.service",
                 *(f"./{name}" for name in SOCKETS))
    assert run.returncode == 0 and not run.stderr, run.stderr


@needs_systemd
def test_verification_sees_a_mistake(units):
    service = units / "ringdeal.service"
    service.write_text(service.read_text().replace("Restart=always", "Restart=alway"))
    assert verify(units, "./ringdeal.service").returncode != 0


@needs_systemd
@pytest.mark.parametrize("name", DROP_INS)
def test_drop_in_fits_a_unit(units, installed, name):
    target = units / "target.service"
    target.write_text("[Service]\nExecStart=/bin/true\n")
    add_drop_in(target, installed.only(name))
    run = verify(units, "./ringdeal.service", "./target.service")
    assert run.returncode == 0 and not run.stderr, run.stderr


def exposure(unit, at_most):
    """Whether systemd counts no more than so many tenths."""
    run = subprocess.run(
        [SYSTEMD, "security", "--offline=true", f"--threshold={at_most}", "--no-pager", unit],
        capture_output=True, text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


@needs_systemd
@pytest.mark.parametrize("name", ["ringdeal.service", "ringdeald@api.service"])
def test_exposure_stays_low(units, name):
    (units / "ringdeald@.service").rename(units / "ringdeald@api.service")  # it reads no template
    exposure(units / name, 15)


@needs_systemd
def test_low_ports_take_one_capability(units, installed):
    add_drop_in(units / "ringdeal.service", installed.only("low-ports.conf"))
    exposure(units / "ringdeal.service", 16)
    with pytest.raises(AssertionError):
        exposure(units / "ringdeal.service", 15)


@pytest.mark.skipif(shutil.which("systemd-sysusers") is None, reason="there is no systemd-sysusers")
def test_user_and_directory_are_made(installed, tmp_path):
    (tmp_path / "etc").mkdir()
    for program, more in ("systemd-sysusers", []), ("systemd-tmpfiles", ["--create"]):
        file = next(installed.root.rglob(f"{program.removeprefix('systemd-')}.d/ringdeal.conf"))
        run = subprocess.run([program, f"--root={tmp_path}", *more, file], capture_output=True,
                             text=True)
        assert run.returncode == 0, run.stderr
    assert (tmp_path / "run/ringdeal").is_dir()
    assert "ringdeal:" in (tmp_path / "etc/passwd").read_text()


def test_property_list_names_an_existing_program(installed):
    with (ROOT / "launchd/org.ringdeal.ringdeald.plist").open("rb") as file:
        job = plistlib.load(file)
    assert job["ProgramArguments"][0] == "/usr/local/sbin/ringdeald"
    assert job["KeepAlive"] and job["Label"] == "org.ringdeal.ringdeald"
