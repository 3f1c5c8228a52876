"""Linking ranges by keyboard alone, following a link with Enter, and the same form without scripts."""

from __future__ import annotations

import pytest

from tests.conftest import make_settings, migrate
from tests.journeys.sample_house import claimed_review, open_house
from tests.pages.conftest import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LINKS = "section:has(> h2:text-is('Links')) tbody tr"


@pytest.fixture(scope="module")
def draft(tmp_path_factory):
    settings = make_settings(tmp_path_factory.mktemp("links"))
    migrate(settings)
    with open_house(settings) as house:
        with house.database.write() as session:
            opened = claimed_review(session, house, house.people["rob"], house.submissions["accepted"])
            address = f"/reviews/{opened.public_id}"
        yield house.url, address


@pytest.fixture
def reviewer(draft, chromium):
    """A function: Rob's page of the links, in a small window so that both panes have to scroll."""
    contexts = []

    def open_page(**options):
        context = chromium.new_context(base_url=draft[0], viewport={"width": 1200, "height": 420}, **options)
        contexts.append(context)
        page = context.new_page()
        page.goto("/sign-in")
        page.fill("#login", "rob")
        page.fill("#password", PASSWORD)
        page.press("#password", "Enter")
        page.wait_for_url(f"{draft[0]}/")
        page.goto(f"{draft[1]}/links")
        return page

    yield open_page
    for context in contexts:
        context.close()


def test_two_ranges_are_linked_and_followed_by_keyboard_alone(reviewer, draft):
    page = reviewer()
    page.locator("[data-side=left] .scroll").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "Shift+ArrowDown"):
        page.keyboard.press(key)
    page.keyboard.press("ArrowRight")
    for _ in range(19):
        page.keyboard.press("ArrowDown")
    for _ in range(2):
        page.keyboard.press("Shift+ArrowDown")
    assert page.inner_text("#announce") == "Target: line 19 to 21"
    page.keyboard.press("l")
    page.wait_for_selector(LINKS)

    said = page.locator(LINKS).inner_text()
    assert "reference.py:4-5" in said and "solution.py:19-21" in said
    target = page.locator("#new-solution-py-L19")
    assert not _is_seen(target)
    page.locator("[data-side=left] .margin a").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash === '#new-solution-py-L19'")
    assert _is_seen(target)
    page.goto(draft[1])
    assert "reference.py:4-5" in page.inner_text("#links")


def test_numbers_typed_are_shown_in_the_panes_and_no_key_fires_while_typing(reviewer):
    page = reviewer()
    before = page.locator(LINKS).count()
    page.fill("#right-start", "3")
    page.fill("#right-end", "4")
    assert page.locator("[data-side=right] tr.picked").count() == 2
    page.locator("#note").press_sequentially("all of it, l and l")
    assert page.locator(LINKS).count() == before and page.input_value("#note") == "all of it, l and l"


def test_without_scripts_four_numbers_do(reviewer):
    page = reviewer(java_script_enabled=False)
    before = page.locator(LINKS).count()
    for name, number in (("left-start", "1"), ("left-end", "2"), ("right-start", "9"), ("right-end", "10")):
        page.fill(f"#{name}", number)
    page.click("#link-form button")

    assert page.locator(LINKS).count() == before + 1
    page.locator(f"{LINKS} >> nth={before}").locator("button").click()
    assert page.locator(LINKS).count() == before


def _is_seen(line) -> bool:
    """Whether the line stands within its pane as it is scrolled now."""
    return line.evaluate("""one => {
      const box = one.closest('.scroll').getBoundingClientRect(), here = one.getBoundingClientRect();
      return here.top >= box.top - 1 && here.bottom <= box.bottom + 1;
    }""")
