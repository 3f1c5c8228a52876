"""Bad input against the running service: each gets a clear answer, and nothing that was there is lost."""

import sys

import httpx
import pytest

from tests.run_bad_input import CASES, PYTHON, running_house

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.skipif(not PYTHON.exists(), reason="the torch runtime is not installed here"),
]


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    with running_house(tmp_path_factory.mktemp("bad-input")) as house:
        yield house


@pytest.fixture(scope="module")
def earlier(house):
    """A submission that was judged before anything bad came."""
    assert house.judge("double").outcome == "accepted"
    return house.script.get("/submissions").json()["items"][-1]["id"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_answered_clearly_and_nothing_is_lost(house, earlier, case):
    answer = case.send(house)

    assert answer.outcome == case.outcome, answer
    assert case.says in answer.said
    assert house.script.get(f"/submissions/{earlier}").json()["evaluations"][0]["verdict"] == "accepted"
    assert httpx.get(f"{house.url}/health").status_code == 200
