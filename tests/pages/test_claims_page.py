"""Claims: typed into the upload form, refused with their field, and shown with what came of them."""

from __future__ import annotations

import json
import re

from app.submissions import queries, service
from tests.journeys.sample_house import claimed_review

SOURCE = "import triton\n\n@triton.jit\ndef k(x):\n    pass\n"
TYPED = {
    "claim_speedup": "1.8x", "claim_baseline": "torch.softmax", "claim_device": "H100", "claim_error": "2",
    "claim_error_kind": "max_ulp", "claim_dtypes": "fp32, bf16", "claim_environments": "cuda:sm_90a",
    "claim_launches": "1", "claim_memory": "12.5", "claim_deterministic": "yes", "claim_cause": "a missing mask",
    "claim_words": "reads each row once\r\nno spills\r\n",
}  # fmt: skip


def upload(house, files=None, **typed):
    browser = house.browser("sue")
    browser.get("/submissions/new")
    return browser.post("/submissions/new", {"task": "row-softmax", "source": SOURCE, **typed}, files=files)


def test_the_form_makes_the_file_that_the_judge_reads(full_house):
    page = upload(full_house, **TYPED)

    public_id = page.url.path.rpartition("/")[2]
    with full_house.database.read() as session:
        submission = queries.find(session, public_id, full_house.viewers["sue"])
        text = service.texts(full_house.settings, submission)["claims.json"]
    assert json.loads(text) == submission.claims == [
        {"speedup": 1.8, "baseline": "torch.softmax", "device": "H100"}, {"max_ulp": 2.0}, {"dtypes": ["fp32", "bf16"]},
        {"environments": ["cuda:sm_90a"]}, {"max_launches": 1}, {"memory_mb": 12.5, "device": "H100"},
        {"deterministic": True}, {"root_cause": "a missing mask"}, {"text": "reads each row once"},
        {"text": "no spills"},
    ]  # fmt: skip


def test_a_claim_that_cannot_be_read_is_refused_beside_its_field(full_house):
    for wrong, said in (
        ({"claim_error": "2 ulp"}, "which is no number"),
        ({"claim_launches": "1e999"}, "number of launches"),
        ({"claim_speedup": "2"}, "needs a number, what it is against, and a device"),
        ({"claim_dtypes": "float31"}, "dtypes[1]: must be one of"),
        ({"claim_environments": "H100"}, "environments[1]"),
    ):
        page = upload(full_house, claim_words="mine", **wrong)
        assert page.status_code == 422
        assert said in page.text and 'id="claims-error"' in page.text and 'id="claims" open' in page.text
        assert "mine</textarea>" in page.text and f'value="{next(iter(wrong.values()))}"' in page.text


def test_claims_come_from_one_place(full_house):
    files = [("files", ("k.py", SOURCE)), ("files", ("claims.json", '["fast"]'))]
    page = upload(full_house, files=files, source="", claim_words="slow")
    assert page.status_code == 422 and "claims in claims.json and beside it" in page.text


def test_the_first_screen_shows_each_claim_with_its_evidence(full_house):
    rob = full_house.viewers["rob"]
    with full_house.database.write() as session:
        review = claimed_review(session, full_house, rob, full_house.submissions["wrong_result"]).public_id
    page = full_house.browser("rob").get(f"/reviews/{review}")
    table = re.search(r'<div class="summary-claims">.*?</table>', page.text, re.DOTALL)[0]
    assert table.index("right for cols from 1") < table.index("contradicted") < table.index("1.8 times faster")
    assert 'href="#numerics.tail.out"' in table and 'data-cite="claim.1"' in table
