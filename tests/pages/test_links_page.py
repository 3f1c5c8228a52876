"""Source and target side by side: linked by a form of four numbers, shown in both margins, read by whoever may."""

from __future__ import annotations

import re

from tests.pages.test_reviewing import FULL, claimed

LINK = {
    "left_path": "reference.py", "left_start": "4", "left_end": "5", "right_path": "solution.py", "right_start": "10",
    "right_end": "16", "how": "translated", "note": "one <b>program</b> a row",
}  # fmt: skip
HTML = {"Accept": "text/html"}


def linked(house):
    browser, page = claimed(house)
    path = page.url.path
    browser.get(f"{path}/links")
    return browser, path, browser.post(f"{path}/links", LINK)


def pane(page, side):
    return page.text.split(f'data-side="{side}"')[1].split("</section>")[0]


def test_four_numbers_make_a_link_that_stands_in_both_margins(full_house):
    _, _, page = linked(full_house)

    left, right = pane(page, "left"), pane(page, "right")
    assert 'href="#new-solution-py-L10" aria-label="link 1: reference.py:4-5 translated solution.py:10-16' in left
    assert 'href="#reference-py-L4" aria-label="link 1' in right
    assert left.count("link-bar") == 2 and right.count("link-bar") == 7
    assert 'id="new-solution-py-L10"' in right and 'id="reference-py-L4"' in left
    assert "one &lt;b&gt;program&lt;/b&gt; a row" in page.text


def test_the_table_names_every_function_of_the_source_and_what_became_of_it(full_house):
    _, _, page = linked(full_house)

    table = page.text.split("What became of the source")[1]
    rows = [re.sub(r"<[^>]+>|\s+", " ", row).split() for row in table.split("<tr>")[2:]]
    assert [row[:2] for row in rows] == [["make_inputs", "function"], ["reference", "function"]]
    assert "not linked" in " ".join(rows[0]) and "translated" in rows[1] and "solution.py:10-16" in rows[1]


def test_what_leads_nowhere_is_refused_and_stays_typed(full_house):
    browser, page = claimed(full_house)
    browser.get(f"{page.url.path}/links")

    refused = browser.post(f"{page.url.path}/links", {**LINK, "right_end": "4000"})

    assert refused.status_code == 422 and "goes to line 4000 of solution.py, which has" in refused.text
    assert 'value="4000"' in refused.text and "No ranges are linked yet" in refused.text
    for wrong in ({"left_start": ""}, {"how": "eaten"}, {"left_path": "task.toml"}, {"right_start": ""}):
        assert browser.post(f"{page.url.path}/links", {**LINK, **wrong}).status_code == 422, wrong


def test_what_was_dropped_needs_no_target(full_house):
    browser, page = claimed(full_house)
    browser.get(f"{page.url.path}/links")

    shown = browser.post(f"{page.url.path}/links", {**LINK, "how": "dropped", "left_end": ""})

    assert shown.status_code == 200 and 'aria-label="link 1: dropped' in pane(shown, "left")
    assert "link-bar" not in pane(shown, "right")


def test_the_file_that_names_hidden_workloads_is_not_shown(full_house):
    browser, page = claimed(full_house)

    shown = browser.get(f"{page.url.path}/links?left=task.toml")

    assert "secret-tail" not in shown.text and "task.toml" not in shown.text


def test_the_review_page_carries_them_through_every_save(full_house):
    browser, path, _ = linked(full_house)
    page = browser.get(path)
    fields = re.findall(r'name="(link\.\w+)" value="([^"]*)"', page.text)
    assert ("link.left_start", "4") in fields and "reference.py:4-5" in page.text

    browser.post(f"{path}/draft", {"version": "1", **FULL, **dict(fields)}, headers=HTML)

    assert "Links" in browser.get(f"{path}/links").text and 'aria-label="link 1' in browser.get(f"{path}/links").text


def test_a_page_from_before_the_link_is_asked_and_does_not_drop_it(full_house):
    browser, path, _ = linked(full_house)

    page = browser.post(f"{path}/draft", {"version": "0", **FULL}, headers=HTML)

    assert page.status_code == 409 and "Link from reference.py:4-5" in page.text
    key = re.search(r"take/(links\.[^\"]+)", page.text)[1]
    after = browser.post(f"{path}/take/{key}", {"version": "1", **FULL})
    assert 'name="link.left_path" value="reference.py"' in after.text


def test_a_link_is_removed_by_what_it_says_and_not_by_its_number_alone(full_house):
    browser, path, page = linked(full_house)
    digest = re.search(r'name="digest" value="(\w+)"', page.text)[1]

    assert 'aria-label="link 1' in browser.post(f"{path}/links/1/remove", {"digest": "another"}).text
    assert "No ranges are linked yet" in browser.post(f"{path}/links/1/remove", {"digest": digest}).text


def test_it_is_read_with_the_review_and_changed_no_more(full_house):
    browser, path, _ = linked(full_house)
    fields = dict(re.findall(r'name="(link\.\w+)" value="([^"]*)"', browser.get(path).text))
    read = browser.post(f"{path}/submit", {"version": "1", **FULL, **fields})

    assert "Linked ranges" in read.text and "solution.py:10-16" in read.text and "not linked" in read.text
    page = browser.get(f"{path}/links")
    assert 'aria-label="link 1' in page.text and "link-form" not in page.text and ">Remove" not in page.text
    assert browser.post(f"{path}/links", LINK).status_code == 409


def test_nobody_links_in_the_draft_of_another(full_house):
    _, path, _ = linked(full_house)
    ria = full_house.browser("ria")
    ria.get("/queue")

    assert ria.get(f"{path}/links").status_code == 404 and ria.post(f"{path}/links", LINK).status_code == 404
