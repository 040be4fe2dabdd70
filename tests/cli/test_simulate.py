"""ringdeal simulate: the ring deal beside hash and exact claim, and what is wrong with a request."""

import json
import os
import subprocess
import xml.etree.ElementTree

import pytest

from conftest import BINARY, ROOT, ringdeal

KEYS = ["policy", "rings_percent", "share_error_max_percent", "active_spread_percent_of_mean",
        "idle_workers"]
USAGE = 100
SYSTEM = 111


def simulate(*arguments):
    """The results, one for each policy."""
    done = ringdeal("simulate", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_gives_each_of_32_workers_its_share_of_8_receiving_cpus():
    deal, hashed = simulate("--profile", "e5-2470v2", "--policy", "ring-deal,hash")
    assert deal["share_error_max_percent"] <= 1
    assert deal["idle_workers"] == 0
    # The near half of the workers is all that the receiving CPUs can be near to.
    assert sum(deal["rings_percent"][:2]) >= 49
    assert sum(hashed["rings_percent"][:2]) <= 7


@pytest.mark.parametrize("mean_active", [0.5, 5, 30])
def test_gives_each_its_share_at_other_loads_too(mean_active):
    deal, = simulate("--profile", "e5-2470v2", "--mean-active", mean_active)
    assert deal["share_error_max_percent"] <= 1


def test_shows_that_exact_claim_leaves_workers_idle_and_its_gate_gives_locality_up():
    ungated, = simulate("--profile", "e5-2470v2", "--policy", "exact-claim", "--coverage", "any")
    gated, = simulate("--profile", "e5-2470v2", "--policy", "exact-claim")
    explicit, = simulate("--profile", "e5-2470v2", "--policy", "exact-claim", "--set",
                         "--pinned", "0-31")
    assert ungated["idle_workers"] == explicit["idle_workers"] == 24
    assert gated["idle_workers"] == 0
    assert gated["rings_percent"][0] <= 4


def test_keeps_16_on_16_near_and_even():
    deal, hashed = simulate("--profile", "e5-2470v2-16rx", "--policy", "ring-deal,hash")
    assert sum(deal["rings_percent"][:3]) >= 99
    assert deal["rings_percent"][0] >= 85
    assert deal["active_spread_percent_of_mean"] <= 15
    assert hashed["rings_percent"][4] == pytest.approx(50, abs=1)
    assert hashed["active_spread_percent_of_mean"] >= 30


def test_crosses_no_cache_group_of_the_5950x_without_need():
    deal, hashed = simulate("--profile", "ryzen-5950x", "--policy", "ring-deal,hash")
    assert sum(deal["rings_percent"][3:]) <= 1
    assert sum(hashed["rings_percent"][3:]) == pytest.approx(50, abs=1)


@pytest.mark.parametrize("mean_active", [0.01, 4, 40])
def test_gives_three_on_one_cpu_the_same_within_one_connection(mean_active):
    deal, = simulate("--topology", "synthetic:core:2 pu:2", "--receive", "2", "--pinned", "2",
                     "--pinned", "2", "--pinned", "2", "--connections", 301,
                     "--mean-active", mean_active, "--holding", "constant")
    assert deal["share_error_max_percent"] * 301 / 3 / 100 <= 1
    assert deal["rings_percent"][0] == 100


def test_counts_weights():
    deal, = simulate("--topology", "synthetic:core:4 pu:1", "--receive", "0:3", "--receive", "1-3",
                     "--pinned", "0:3", "--on", "1-2:2", "--unplaced", "1", "--holding",
                     "constant", "--mean-active", 50)
    assert deal["share_error_max_percent"] <= 1


def test_repeats_itself_with_the_same_seed_only():
    arguments = ("--profile", "ryzen-5950x", "--connections", 20000, "--holding", "pareto")
    first, again = simulate(*arguments), simulate(*arguments)
    other = simulate(*arguments, "--seed", 2)
    assert first == again != other
    assert list(first[0]) == KEYS


def test_takes_the_load_as_a_rate_too():
    of_mean, = simulate("--profile", "ryzen-5950x", "--connections", 20000, "--mean-active", 50)
    of_rate, = simulate("--profile", "ryzen-5950x", "--connections", 20000, "--arrival-rate", 400,
                        "--mean-holding", 2)
    assert of_rate == of_mean


def test_prints_a_line_and_draws_a_bar_for_each_policy(tmp_path):
    picture = tmp_path / "deal.svg"
    done = ringdeal("simulate", "--profile", "e5-2470v2", "--connections", 1000,
                    "--policy", "hash,round-robin,ring-deal", "--plot", picture)
    assert done.returncode == 0, done.stderr
    names = [line.split()[0] for line in done.stdout.splitlines()[2:]]
    assert names == ["hash", "round-robin", "ring-deal"]
    svg = "{http://www.w3.org/2000/svg}"
    root = xml.etree.ElementTree.parse(picture).getroot()
    assert [text.text for text in root.iter(svg + "text") if text.text in names] == names
    bars = [bar for bar in root.iter(svg + "rect") if bar.find(svg + "title") is not None]
    assert sum(float(bar.get("width")) for bar in bars) == pytest.approx(3 * 600, abs=1)


def test_the_document_says_what_is_simulated():
    subprocess.run([ROOT / "scripts" / "ring-deal-document", "--check"], check=True,
                   env={**os.environ, "RINGDEAL_BINARY": BINARY})


ONE = ("--receive", "0", "--unplaced", "1", "--topology", "synthetic:pu:2")


@pytest.mark.parametrize("arguments, complaint", [
    ((), "needs --profile, or --receive and one of --pinned, --on and --unplaced"),
    (("--receive", "0"), "needs --profile"),
    (("--profile", "i386"), 'there is no profile "i386"; there are e5-2470v2 '),
    (("--receive", "0:heavy", "--unplaced", "1"), '"0:heavy"'),
    (("--receive", "0:", "--unplaced", "1"), '"0:"'),
    (("--receive", "0:nan", "--unplaced", "1"), '"weight" must be a number'),
    (("--receive", "0", "--unplaced", "some"), '"some"'),
    (("--mean-active", "nan", *ONE), '"mean_active" must be a number'),
    (("--receive", "1-0", "--unplaced", "1"), '"1-0" is no list of CPUs'),
    (("--receive", "2", *ONE[2:]), "the topology has no CPU 2"),
    (("--pinned", "2", *ONE), "the topology has no CPU 2"),
    (("--receive", "0", "--unplaced", "1:0.5"), '"weight" must be a number from 1 to 1000'),
    (("--policy", "first-fit", *ONE), '"policy" must be ring-deal, '),
    (("--connections", "0", *ONE), '"connections" must be a number from 1 '),
    (("--slack", "0", *ONE), '"slack" must be a number from 1 '),
    (("--pareto-shape", "1", *ONE), '"pareto_shape" must be a number from 1.01 '),
    ((*ONE[:4], "--topology", "synthetic:x"), "is no topology"),
    ((*ONE[:4], "--topology", "/no/such.xml"), "/no/such.xml: No such file or directory"),
])
def test_says_in_one_line_what_is_wrong_with_a_request(arguments, complaint):
    done = ringdeal("simulate", *arguments)
    assert done.returncode == USAGE
    assert done.stdout == ""
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_says_when_the_picture_cannot_be_written():
    done = ringdeal("simulate", *ONE, "--connections", 10, "--plot", "/no/such/deal.svg")
    assert done.returncode == SYSTEM
    assert done.stderr == "ringdeal simulate: /no/such/deal.svg: No such file or directory\n"
