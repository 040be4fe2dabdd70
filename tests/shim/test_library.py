"""The shim as a file: what it exports, needs and weighs. It is loaded into other people's programs."""
import re
import subprocess

from support import build

EXPORTS = build.SOURCE / "client-shim" / "preload" / "exports.list"


def symbols(option):
    lines = subprocess.run(["nm", "-D", option, build.SHIM], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return [line.split()[-1] for line in lines]


def test_exports_exactly_the_list():
    assert sorted(symbols("--defined-only")) == sorted(EXPORTS.read_text().split())


def test_needs_the_c_library_alone():
    """Of which libdl was a file of its own until glibc 2.34."""
    for library in [build.SHIM, build.SHIM.parent / "libringdeal.so.1"]:
        dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True,
                                 text=True).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
        assert "libc.so.6" in needed
        assert all(name.startswith(("libc.so", "libdl.so", "ld-linux")) for name in needed), needed


def test_loads_on_a_c_library_of_2018():
    versions = [tuple(map(int, version.split("."))) for symbol in symbols("--undefined-only")
                for version in re.findall(r"GLIBC_([\d.]+)$", symbol)]
    assert versions and max(versions) <= (2, 28)


def test_is_small(directory):
    subprocess.run(["strip", "-o", directory / "stripped.so", build.SHIM], check=True)
    assert (directory / "stripped.so").stat().st_size < 100_000  # with the failpoints of the tests


def test_thread_local_storage_is_there_from_the_start():
    """Else the first touch allocates, which a signal handler must not."""
    relocations = subprocess.run(["readelf", "-rW", build.SHIM], check=True, capture_output=True,
                                 text=True).stdout
    assert "JUMP_SLO" in relocations or "GLOB_DAT" in relocations
    assert not re.search("DTPMOD|DTPOFF|TLSDESC", relocations)
