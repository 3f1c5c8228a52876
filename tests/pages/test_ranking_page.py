"""Ranking: members side by side under letters, an order that a form without scripts can give, and nobody's name."""

from __future__ import annotations

import re

import pytest

from app.comparisons import service as comparisons
from app.submissions import queries as submission_queries
from tests import factories
from tests.pages import sample_reports

HTML = {"Accept": "text/html"}
RANKED = {
    "rank.A": "2", "rank.B": "1", "rank.C": "2", "strength.1": "clearly", "strength.2": "",
    "ranking.reason": "B masks.", "note.A": "Mask the *tail*.", "feedback": "Close.", "confidence": "3",
}  # fmt: skip
TELLTALE = ("Sue", "Vera", "Softmax by", "gpt-secret", "author-", "One program a")


@pytest.fixture
def compared(house):
    """A house with one comparison: three submissions by two people, one hostile to the page."""
    with house.database.write() as session:
        task = factories.make_task(session, house.settings)
        for name, author in (("accepted", "sue"), ("hostile", "sue"), ("measured", "vera")):
            submission, _, _ = factories.make_evaluated(
                session, house.settings, report=sample_reports.ALL[name](), author=house.viewers[author], task=task,
                source=f"{sample_reports.SOURCE}# only in {name}\n", title=f"Softmax by {author}",
                model={"name": "gpt-secret"}, explanation="One program a **row**.",
            )  # fmt: skip
            house.submissions[name] = submission.public_id
        made = comparisons.open_comparison(
            session, house.settings, house.viewers["max"], task, list(house.submissions.values())
        )
        house.subject = made.public_id
    return house


def ranking(house, login="rob"):
    """A browser with the comparison open, and its page."""
    browser = house.browser(login)
    queue = browser.get("/queue?subject=comparison")
    return browser, browser.post(f"{re.search(r'/queue/slt_[0-9A-Z]+/claim', queue.text)[0]}")


def submitted(house, login="rob", **fields):
    browser, page = ranking(house, login)
    return browser, browser.post(f"{page.url.path}/submit", {"version": "0", **RANKED, **fields})


def letters(house, page):
    """Letter -> the sample that this reviewer sees under it."""
    parts = re.split(r'id="member-([ABCD])"', page.text)
    return {
        letter: next(name for name in house.submissions if f"only in {name}" in part)
        for letter, part in zip(parts[1::2], parts[2::2], strict=True)
    }


class TestThePage:
    def test_members_stand_side_by_side_with_figures_and_their_own_places(self, compared):
        _, page = ranking(compared)

        table = page.text.split('class="data side-by-side"')[1].split("</table>")[0]
        assert all(f'href="#member-{letter}"' in table for letter in "ABC")
        assert "Largest error, ULP" in table and "Not checked" in table and "Speed-up on" in table
        assert "not measured" in table
        ids = re.findall(r'\bid="([^"]+)"', page.text)
        assert len(ids) == len(set(ids)), sorted(i for i in ids if ids.count(i) > 1)[:5]
        assert not set(re.findall(r'href="#([^"]+)"', page.text)) - {*ids, "main"}

    def test_nothing_says_whose_they_are(self, compared):
        browser, page = ranking(compared)
        path = page.url.path
        assert sorted(letters(compared, page).values()) == sorted(compared.submissions)
        seen = [page, browser.get("/reviews"), browser.get("/queue?subject=comparison")]
        seen += [browser.get(f"{path}/members/{a}/source?against={b}") for a in "ABC" for b in "ABC" if a != b]
        for answer in seen:
            assert answer.status_code == 200
            for word in (*TELLTALE, *compared.submissions.values()):
                assert word not in answer.text, (answer.url, word)

    def test_what_is_hostile_is_text(self, compared):
        _, page = ranking(compared)

        assert "<script>alert" not in page.text and "onerror=alert(2)>" not in page.text

    def test_each_reviewer_has_an_order_of_their_own_that_stays(self, compared):
        browser, page = ranking(compared)
        again = browser.get(page.url.path)

        assert letters(compared, page) == letters(compared, again)
        with compared.database.read() as session:
            from app.models import ReviewMember

            assert session.query(ReviewMember).count() == 3

    def test_sources_beside_each_other_and_the_reference_and_no_further(self, compared):
        browser, page = ranking(compared)
        path = page.url.path

        diff = browser.get(f"{path}/members/A/source?against=B").text
        assert "Differences" in diff and "only in" in diff and '<option value="A"' not in diff
        assert "Source of reference.py" in browser.get(f"{path}/members/A/source?against=reference.py&view=sides").text
        assert "secret-tail" not in browser.get(f"{path}/members/A/source?against=task.toml").text
        assert browser.get(f"{path}/members/D/source").status_code == 404
        rest = browser.get(f"{path}/members/B/lines?file=solution.py&start=1&end=3")
        assert 'id="B-solution-py-L3"' in rest.text
        assert browser.get(f"{path}/members/B/lines?file=none.py&start=1&end=3").status_code == 404

    def test_what_belongs_to_scores_is_not_there(self, compared):
        browser, page = ranking(compared)
        path = page.url.path
        for where in ("assemble", "hints", "preview"):
            assert browser.post(f"{path}/{where}", RANKED).status_code == 404, where
        for where in ("rubric", "links", "source"):
            assert browser.get(f"{path}/{where}").status_code == 404, where
        assert browser.post(f"{path}/contest", {"code": "verdict", "reason": "no"}).status_code == 409


class TestTheForm:
    def test_a_draft_comes_back_with_everything(self, compared):
        browser, page = ranking(compared)
        browser.post(f"{page.url.path}/draft", {"version": "0", **RANKED})
        again = browser.get(page.url.path).text

        assert '<input type="radio" name="rank.B" value="1" checked>' in again
        assert '<input type="radio" name="strength.1" value="clearly" checked>' in again
        for typed in ("B masks.", "Mask the *tail*.", "Close."):
            assert typed in again

    def test_what_is_missing_is_a_list_that_leads_to_each_place(self, compared):
        browser, page = ranking(compared)
        refused = browser.post(f"{page.url.path}/submit", {"version": "0", "rank.A": "1", "ranking.reason": " "})

        assert refused.status_code == 422 and "give B and C a place" in refused.text
        for place in ("ranking", "reason", "confidence"):
            assert f'href="#{place}"' in refused.text and f'id="{place}"' in refused.text
        refused = browser.post(f"{page.url.path}/submit", {"version": "1", **RANKED, "strength.1": ""})
        assert refused.status_code == 422 and "how much better place 1 is than place 2" in refused.text

    def test_hostile_values_are_refused_in_words_or_left_out(self, compared):
        browser, page = ranking(compared)
        path = page.url.path
        tries = (
            {"rank.A": "-1"}, {"rank.A": "9" * 30}, {"rank.A": "<b>"}, {"strength.1": "<script>"}, {"rank.C": "3"},
        )  # fmt: skip
        for wrong in tries:
            version = re.search(r'name="version" value="(\d+)"', browser.get(path).text)[1]
            answer = browser.post(f"{path}/submit", {"version": version, **RANKED, **wrong})
            assert answer.status_code == 422 and "<script>&" not in answer.text, wrong

    def test_two_pages_of_one_draft_are_compared_and_one_part_taken(self, compared):
        browser, page = ranking(compared)
        path = page.url.path
        browser.post(f"{path}/draft", {"version": "0", **RANKED})
        mine = {**RANKED, "version": "0", "rank.A": "3", "ranking.reason": "C masks."}
        other = browser.post(f"{path}/draft", mine)
        assert other.status_code == 409 and {"Order", "Reason"} <= set(re.findall(r"<h3>([^<]+)</h3>", other.text))
        shown = browser.post(f"{path}/take/ranking.order", mine)
        assert '<input type="radio" name="rank.A" value="2" checked>' in shown.text and "C masks." in shown.text

    def test_cannot_judge_needs_a_reason_and_no_places(self, compared):
        browser, page = ranking(compared)
        path = page.url.path
        refused = browser.post(f"{path}/submit", {"version": "0", "decision": "cannot_judge", "ranking.reason": ""})
        assert refused.status_code == 422 and "say why these cannot be ranked" in refused.text
        kept = {"version": "1", "decision": "cannot_judge", "ranking.reason": "No times.", "confidence": "1"}
        done = browser.post(f"{path}/submit", kept)
        assert done.status_code == 200 and "Cannot judge." in done.text and "No times." in done.text

    def test_changed_evidence_is_said_and_taken_when_told(self, compared):
        browser, page = ranking(compared)
        letter = next(k for k, v in letters(compared, page).items() if v == "accepted")
        with compared.database.write() as session:
            from app.submissions import service as submissions

            submission = submission_queries.find(session, compared.submissions["accepted"])
            submissions.evaluate_again(session, compared.viewers["max"], submission)
        assert f"{letter} is being evaluated again" in browser.get(page.url.path).text
        with compared.database.write() as session:
            factories.evaluate(session, compared.settings, submission, sample_reports.ALL["wrong_result"]())
        assert f"{letter} was evaluated again" in browser.get(page.url.path).text
        after = browser.post(f"{page.url.path}/evidence", {"version": "0", **RANKED})
        assert "was evaluated again" not in after.text and "B masks." in after.text and "Wrong result" in after.text


class TestAfterwards:
    def test_the_reviewer_reads_it_and_stays_blind(self, compared):
        _, done = submitted(compared)

        assert "<li><strong>B</strong>" in done.text and "A = C" in done.text and "clearly better than" in done.text
        for word in (*TELLTALE, *compared.submissions.values(), compared.subject):
            assert word not in done.text
        places = set(re.findall(r'\bid="([^"]+)"', done.text))
        assert not set(re.findall(r'href="#([^"]+)"', done.text)) - places

    def test_it_is_corrected_like_any_review_under_the_same_letters(self, compared):
        browser, done = submitted(compared)
        draft = browser.post(f"{done.url.path}/correct")
        assert letters(compared, draft) == letters(compared, browser.get(draft.url.path))
        assert 'name="rank.B" value="1" checked' in draft.text and 'id="correcting"' in draft.text
        refused = browser.post(f"{draft.url.path}/submit", {"version": "0", **RANKED})
        assert refused.status_code == 422 and 'href="#what_changed"' in refused.text
        fields = {**RANKED, "rank.A": "1", "strength.1": "much", "what_changed": "A masks too."}
        after = browser.post(f"{draft.url.path}/submit", {"version": "1", **fields})
        assert "<strong>A = B</strong>" in after.text and "A masks too." in after.text
        changes = browser.get(f"{after.url.path}/changes")
        assert changes.status_code == 200 and "Order" in changes.text
        for word in (*TELLTALE, *compared.submissions.values()):
            assert word not in after.text + changes.text, word
        assert "revision 1" in browser.get(done.url.path).text.lower()

    def test_staff_see_whose_place_it_is(self, compared):
        _, done = submitted(compared)
        staff = compared.browser("ada")
        table = staff.get(f"/comparisons/{compared.subject}").text
        assert table.count("seen as") == 3 and "1 of 2 reviews in" in table and "Rob" in table
        assert all(name in staff.get(done.url.path).text for name in compared.submissions.values())

    def test_another_reviewer_sees_it_only_after_their_own(self, compared):
        _, done = submitted(compared)
        assert compared.browser("ria").get(done.url.path).status_code == 404
        other, _ = submitted(compared, "ria")
        assert other.get(done.url.path).status_code == 200

    def test_authors_read_what_is_written_to_them_and_nothing_of_the_rest(self, compared):
        browser, page = ranking(compared)
        seen = letters(compared, page)
        notes = {f"note.{letter}": f"to the author of {name}" for letter, name in seen.items()}
        done = browser.post(f"{page.url.path}/submit", {"version": "0", **RANKED, **notes})
        vera = compared.browser("vera")
        hers = f"/submissions/{compared.submissions['measured']}/reviews"
        assert "to the author" not in vera.get(hers).text  # one review is still wanted
        submitted(compared, "ria", **{"note.A": "", "note.B": "", "note.C": ""})

        shown = vera.get(hers).text
        assert "to the author of measured" in shown
        for word in ("to the author of accepted", "to the author of hostile", "B masks.", "Close.", compared.subject):
            assert word not in shown
        assert vera.get(done.url.path).status_code == 404
        assert vera.get(f"/comparisons/{compared.subject}").status_code == 403
        assert compared.browser("sue").get(done.url.path).status_code == 404


def test_opening_one_from_the_page(compared):
    staff = compared.browser("ada")
    page = staff.get("/comparisons")
    version = re.search(r'<option value="(tkv_\w+)"', page.text)[1]
    picked = staff.get(f"/comparisons?version={version}")
    names = re.findall(r'name="submission" value="(sub_\w+)"', picked.text)
    assert sorted(names) == sorted(compared.submissions.values())

    refused = staff.post("/comparisons", {"version": version, "submission": names[:1], "others": "sub_<b>"})
    assert (
        refused.status_code == 404 and f'value="{names[0]}" checked' in refused.text and "sub_&lt;b&gt;" in refused.text
    )
    again = staff.post("/comparisons", {"version": version, "submission": names})
    assert again.status_code == 409 and "compared already" in again.text
    opened = staff.post("/comparisons", {"version": version, "submission": names[:1], "others": f" {names[1]}, "})
    assert opened.status_code == 200 and "Comparison of 2" in opened.text
    assert compared.browser("rob").get("/comparisons").status_code == 403
