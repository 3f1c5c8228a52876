"""Pages of rubrics: editing, publishing with its dry run, rulings, and reviews that stay what they were."""

from __future__ import annotations

import re

import pytest

from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.reviews import queries as review_queries
from app.reviews import service as reviews
from app.rubrics import content, queries, rulings, service
from tests import factories

SCORES = {
    "judgeable": {"level": 3},
    "correct": {"level": 2, "rationale": "fine"},
    "robust": {"level": 1, "rationale": "no tail", "evidence": ["verdict"]},
    "speed": {"state": "cannot_judge", "rationale": "no device"},
}
CONTENT = {"scores": SCORES, "feedback": "Well made.", "decision": "accept", "confidence": 2}


@pytest.fixture
def desk(house):
    """Three submitted reviews and two drafts on version 1: of rob, ria and vera, on two submissions."""
    desk = {"house": house, "submitted": [], "drafts": []}
    with house.database.write() as session:
        for _ in range(2):
            made = factories.make_evaluated(session, house.settings, author=house.viewers["sue"])
            extra = [slot.public_id for slot in made[2]]
            for login, slot_id in zip(("rob", "ria"), extra, strict=False):
                _review(session, house, desk, login, slot_id)
        made = factories.make_evaluated(session, house.settings, author=house.viewers["sue"])
        _review(session, house, desk, "rob", made[2][0].public_id)
    return desk


def _review(session, house, desk, login, slot_id):
    viewer = house.viewers[login]
    slot = assignment_queries.find_slot(session, slot_id)
    review = reviews.open_review(session, viewer, assignments.claim_slot(session, house.settings, viewer, slot).slot)
    if len(desk["submitted"]) < 3:
        reviews.submit_review(session, house.settings, viewer, review, CONTENT)
        desk["submitted"].append((login, review.public_id))
    else:
        reviews.save_draft(session, viewer, review, CONTENT, base_version=0)
        desk["drafts"].append((login, review.public_id))


def _version(house, number):
    with house.database.read() as session:
        rubric = queries.rubric_by_key(session, "page-tests")
        return next(v for v in queries.list_versions(session, rubric_id=rubric.id) if v.version == number)


def _next_draft(admin, house, change=lambda text: text):
    first = _version(house, 1)
    admin.get(f"/rubrics/{first.public_id}")
    page = admin.post(f"/rubrics/{first.public_id}/draft")
    public_id = str(page.url).rpartition("/")[2]
    text = admin.get(f"/rubrics/{public_id}/yaml").text
    page = admin.get(f"/rubrics/{public_id}")
    base = re.search(r'name="base" value="([0-9a-f]{64})"', page.text)[1]
    saved = admin.post(f"/rubrics/{public_id}/save", {"text": change(text), "base": base})
    assert "The draft is saved" in saved.text
    return public_id


def _seal(page):
    return re.search(r'name="seal" value="([0-9a-f]{64})"', page.text)[1]


def _plain(page):
    """The page without what differs from one request to the next: tokens, and how long ago a time was."""
    text = re.sub(r'("X-CSRF-Token": "|name="csrf_token" value=")[^"]+', "", page.text)
    return re.sub(r"(<time [^>]*>)[^<]*", r"\1", text)


def _renamed(text):
    return text.replace("key: robust", "key: steady").replace("title: Robust", "title: Steady")


class TestPublish:
    """Complaints 30 to 34: a rubric changed after reviews must leave them as they are, and say so beforehand."""

    def test_old_reviews_render_identically_and_drafts_are_offered_the_move(self, desk):
        house = desk["house"]
        readers = {login: house.browser(login) for login in ("rob", "ria")}
        before = [_plain(readers[login].get(f"/reviews/{one}")) for login, one in desk["submitted"]]
        admin = house.browser("max")
        draft = _next_draft(admin, house, _renamed)
        impact = admin.get(f"/rubrics/{draft}/impact")
        assert "<strong>structural</strong>" in impact.text and "robust is gone: Robust" in impact.text
        assert re.search(r'<th scope="row">1</th><td class="num">3</td><td class="num">2</td>', impact.text)

        published = admin.post(f"/rubrics/{draft}/publish", {"seal": _seal(impact), "drafts": "offer"})
        assert published.status_code == 200 and _version(house, 2).state == "published"

        after = [_plain(readers[login].get(f"/reviews/{one}")) for login, one in desk["submitted"]]
        assert after == before
        for login, one in desk["drafts"]:
            page = readers[login].get(f"/reviews/{one}")
            assert f'href="/reviews/{one}/rubric"' in page.text and 'id="criterion-robust"' in page.text

    def test_a_reviewer_moves_their_own_draft_and_loses_nothing(self, desk):
        house = desk["house"]
        admin, (login, mine) = house.browser("max"), desk["drafts"][0]
        draft = _next_draft(admin, house, _renamed)
        admin.post(f"/rubrics/{draft}/publish", {"seal": _seal(admin.get(f"/rubrics/{draft}/impact"))})

        browser = house.browser(login)
        shown = browser.get(f"/reviews/{mine}/rubric?map.robust=steady")
        assert "robust → steady" in shown.text
        page = browser.post(f"/reviews/{mine}/rubric", {"seal": _seal(shown), "map.robust": "steady"})
        assert re.search(r'name="score.steady" value="1" checked', page.text) and "no tail" in page.text
        assert "is published. Your draft keeps" not in page.text
        others = [one for _, one in desk["drafts"] if one != mine]
        with house.database.read() as session:
            assert [review_queries.find(session, one).rubric_version.version for one in others] == [1]

    def test_publish_and_move_is_one_deed(self, desk):
        house = desk["house"]
        admin = house.browser("max")
        draft = _next_draft(admin, house, _renamed)
        impact = admin.get(f"/rubrics/{draft}/impact")
        admin.post(f"/rubrics/{draft}/publish", {"seal": _seal(impact), "drafts": "move"})
        with house.database.read() as session:
            for _, one in desk["drafts"]:
                review = review_queries.find(session, one)
                assert review.rubric_version.version == 2
                assert "no tail" in str(review_queries.draft_of(session, review).content["comments"])

    def test_a_draft_saved_since_the_dry_run_stops_publishing_and_moving_alike(self, desk):
        house = desk["house"]
        admin, (login, mine) = house.browser("max"), desk["drafts"][0]
        draft = _next_draft(admin, house, _renamed)
        seal = _seal(admin.get(f"/rubrics/{draft}/impact"))
        with house.database.write() as session:
            reviews.save_draft(
                session, house.viewers[login], review_queries.find(session, mine), CONTENT, base_version=1
            )
        refused = admin.post(f"/rubrics/{draft}/publish", {"seal": seal, "drafts": "move"})
        assert refused.status_code == 409 and "changed since this was shown" in refused.text
        assert _version(house, 2).state == "draft"

    def test_looking_and_cancelling_change_nothing(self, desk):
        house = desk["house"]
        admin = house.browser("max")
        draft = _next_draft(admin, house, _renamed)
        admin.get(f"/rubrics/{draft}/impact?map.robust=steady")
        admin.get(f"/rubrics/{draft}")
        assert _version(house, 2).state == "draft"
        with house.database.read() as session:
            for _, one in desk["drafts"]:
                draft_row = review_queries.draft_of(session, review_queries.find(session, one))
                assert (draft_row.version, draft_row.content) == (1, CONTENT)


class TestEditor:
    def test_the_preview_shows_a_criterion_as_the_reviewer_gets_it(self, house):
        admin = house.browser("max")
        text = content.write_yaml(content.read(_version(house, 1).content)).replace("title: Robust", "title: Steadfast")
        admin.get("/rubrics")
        preview = admin.post("/rubrics/preview", {"text": text}).text
        assert "Steadfast" in preview and 'id="criterion-robust"' in preview and "<html" not in preview

    def test_faults_and_doubts_are_named_with_their_lines(self, house):
        admin = house.browser("max")
        admin.get("/rubrics")
        text = content.write_yaml(content.read(_version(house, 1).content))
        said = admin.post("/rubrics/preview", {"text": text.replace("- benchmark", "- diff")}).text
        assert re.search(r"line \d+: speed.informed_by.0: &#39;diff&#39; is no finding", said)

    def test_what_cannot_be_read_is_named_with_its_line_too(self, house):
        admin = house.browser("max")
        admin.get("/rubrics")
        said = admin.post("/rubrics/preview", {"text": "key: a\ntitle: b\ncriteria:\n- key: c\n  titel: d\n"}).text
        assert "line 5: c.titel: unknown key; did you mean &#39;title&#39;?" in said

    def test_what_somebody_saved_meanwhile_is_not_overwritten(self, house):
        admin = house.browser("max")
        draft = _next_draft(admin, house)
        mine = admin.get(f"/rubrics/{draft}/yaml").text.replace("title: Robust", "title: Mine")
        refused = admin.post(f"/rubrics/{draft}/save", {"text": mine, "base": "0" * 64})
        assert refused.status_code == 409 and "title: Mine" in refused.text

    def test_only_admins_edit(self, house):
        browser = house.browser("rob")
        first = _version(house, 1)
        page = browser.get(f"/rubrics/{first.public_id}")
        assert page.status_code == 200 and "/draft" not in page.text
        assert browser.get(f"/rubrics/{first.public_id}/impact").status_code == 403
        assert browser.post(f"/rubrics/{first.public_id}/draft").status_code == 403


class TestRulings:
    def test_made_by_a_lead_shown_on_the_criterion_and_ticked_by_the_reviewer(self, desk):
        house = desk["house"]
        lead, first = house.browser("ada"), _version(house, 1)
        lead.get(f"/rubrics/{first.public_id}")
        made = lead.post(
            f"/rubrics/{first.public_id}/rulings",
            {"criterion": "robust", "body": "Plan caches <b>are</b> fine.", "example": "A dict by shape."},
        )
        assert "Plan caches &lt;b&gt;are&lt;/b&gt; fine." in made.text

        login, mine = desk["drafts"][0]
        browser = house.browser(login)
        page = browser.get(f"/reviews/{mine}")
        on_criterion = page.text.partition('id="criterion-robust"')[2].partition("</fieldset>")[0]
        assert "For example: A dict by shape." in on_criterion
        ruling = re.search(r'name="acknowledged" value="(rul_\w+)"', on_criterion)[1]

        form = {
            "version": "1", "score.judgeable": "3", "score.correct": "2", "score.robust": "2",
            "score.speed": "cannot_judge", "rationale.speed": "no device", "feedback": "Good.", "decision": "accept",
            "confidence": "2",
        }  # fmt: skip
        refused = browser.post(f"/reviews/{mine}/submit", form)
        assert refused.status_code == 422 and f'href="#ruling-{ruling}"' in refused.text
        taken = browser.post(f"/reviews/{mine}/submit", form | {"version": "2", "acknowledged": ruling})
        assert "Review by you" in taken.text
        assert "You have read it." in browser.get(f"/rubrics/{first.public_id}").text

    def test_reviewers_get_them_over_rest_and_submitters_do_not(self, house):
        first = _version(house, 1)
        with house.database.write() as session:
            rulings.make_ruling(session, house.viewers["ada"], first, criterion="robust", body="Fine.", example="So.")
        (seen,) = house.browser("rob").get(f"/api/v1/rubrics/{first.public_id}").json()["rulings"]
        assert (seen["criterion"], seen["body"], seen["acknowledged_at"]) == ("robust", "Fine.", None)
        assert house.browser("sue").get(f"/api/v1/rubrics/{first.public_id}").json()["rulings"] == []

    def test_a_reviewer_makes_and_withdraws_none(self, house):
        browser, first = house.browser("rob"), _version(house, 1)
        assert "Make a ruling" not in browser.get(f"/rubrics/{first.public_id}").text
        assert browser.post(f"/rubrics/{first.public_id}/rulings", {"criterion": "robust"}).status_code == 403


def test_shipped_rubrics_all_have_a_page(house):
    with house.database.write() as session:
        service.seed(session)
        ids = [version.public_id for version in queries.published(session)]
    browser = house.browser("rob")
    for public_id in ids:
        assert browser.get(f"/rubrics/{public_id}").status_code == 200
        assert browser.get(f"/rubrics/{public_id}/json").json()["criteria"]
