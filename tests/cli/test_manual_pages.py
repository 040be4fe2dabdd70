"""The manual pages say what the commands and documents say, and are well formed."""
import os
import re
import shutil
import subprocess

import pytest

from support import build

PAGES = sorted((build.SOURCE / "docs/man").glob("*.[1-8]"))


def test_there_are_four():
    assert [page.name for page in PAGES] == ["ringdeal.1", "ringdeal.3", "ringdeal.yaml.5", "ringdeald.8"]


def test_they_say_what_the_help_and_the_documents_say():
    check = subprocess.run([build.SOURCE / "scripts/manual-pages", "--check"], capture_output=True, text=True,
                           env={**os.environ, "RINGDEAL_BUILD": str(build.BUILD)})
    assert check.returncode == 0, check.stderr


@pytest.mark.skipif(not shutil.which("mandoc"), reason="no mandoc: run scripts/install-dependencies --test")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_they_are_well_formed(page):
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
    complaints = [line for line in (lint.stdout + lint.stderr).splitlines()
                  if "missing date" not in line]  # that of a change nobody would keep up
    assert not complaints
    shown = subprocess.run(["mandoc", "-T", "ascii", page], capture_output=True, text=True, check=True).stdout
    assert "SEE ALSO" in re.sub(".\b", "", shown)
    assert "`" not in page.read_text().replace("`allow`", ""), "markup was left"
