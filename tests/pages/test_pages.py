"""Every page renders for who may see it, keeps the others out, and writes nothing on GET."""

from __future__ import annotations

import pytest

OPEN_TO_ALL = ("/", "/submissions", "/tasks", "/tasks/row-softmax", "/catalogue", "/account")
FOR_SUBMITTERS = ("/submissions/new", "/imports")
FOR_REVIEWERS = ("/queue", "/reviews", "/rubrics")
FOR_ADJUDICATORS = ("/exports", "/admin")
FOR_ADMINS = ("/admin/people", "/admin/webhooks", "/admin/audit")
REACH = {
    "sue": OPEN_TO_ALL + FOR_SUBMITTERS, "rob": OPEN_TO_ALL + FOR_REVIEWERS,
    "ada": OPEN_TO_ALL + FOR_REVIEWERS + FOR_ADJUDICATORS,
    "max": OPEN_TO_ALL + FOR_SUBMITTERS + FOR_REVIEWERS + FOR_ADJUDICATORS + FOR_ADMINS,
}  # fmt: skip
ALL_PAGES = REACH["max"]


@pytest.mark.parametrize("login", REACH)
def test_people_reach_their_pages_and_no_others(full_house, login):
    browser = full_house.browser(login)

    statuses = {path: browser.get(path).status_code for path in ALL_PAGES}

    assert statuses == {path: 200 if path in REACH[login] else 403 for path in ALL_PAGES}


def test_without_a_sign_in_every_page_leads_to_it(full_house):
    browser = full_house.browser()

    for path in ALL_PAGES:
        answer = browser.get(path)
        assert answer.url.path == "/sign-in", path
        assert answer.url.params["next"] == path


def test_signing_in_leads_only_to_our_own_pages(full_house):
    browser = full_house.browser()
    for elsewhere in ("https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"):
        page = browser.get("/sign-in", params={"next": elsewhere})
        assert 'name="next" value="/"' in page.text


def test_pages_are_read_without_inline_script_or_style(full_house):
    browser = full_house.browser("max")
    paths = [*ALL_PAGES, *(f"/submissions/{s}" for s in full_house.submissions.values())]
    for path in paths:
        answer = browser.get(path)
        policy = answer.headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy and "unsafe" not in policy
        assert " style=" not in answer.text and "<style" not in answer.text, path
        assert " onclick=" not in answer.text and "<script>" not in answer.text, path


def test_get_writes_nothing(full_house):
    """A read session refuses to write, so a page that tried would be a 500; the file shows that none did."""
    browser = full_house.browser("max")
    watched = "SELECT count(*) FROM audit_entries"

    def count():
        with full_house.database.read() as session:
            tables = [name for (name,) in session.execute(_text("SELECT name FROM sqlite_master WHERE type = 'table'"))]
            return {name: session.execute(_text(f'SELECT count(*) FROM "{name}"')).scalar() for name in tables} | {
                "w": session.execute(_text(watched)).scalar()
            }

    before = count()
    for path in (*ALL_PAGES, *(f"/submissions/{s}/reviews" for s in full_house.submissions.values())):
        assert browser.get(path).status_code == 200, path

    assert count() == before


def test_static_files_carry_a_hash_and_are_kept(full_house):
    page = full_house.browser().get("/sign-in").text
    address = page.split('rel="stylesheet" href="')[1].split('"')[0]

    answer = full_house.browser().client.get(address)

    assert answer.status_code == 200
    assert "immutable" in answer.headers["Cache-Control"]
    assert "immutable" not in full_house.browser().client.get(address.split("?")[0]).headers["Cache-Control"]


def test_unknown_addresses_get_a_page_that_says_what_to_do(full_house):
    answer = full_house.browser("sue").get("/submissions/sub_unknown")

    assert answer.status_code == 404
    assert "There is nobody" not in answer.text
    assert 'href="/"' in answer.text


def test_a_form_without_the_token_is_refused(full_house):
    browser = full_house.browser("max")
    browser.token = "wrong"

    answer = browser.post("/exports", {"shape": "review"})

    assert answer.status_code == 403
    assert "expired" in answer.text


def _text(statement):
    from sqlalchemy import text

    return text(statement)
