"""Every page, as each role sees it: axe finds nothing, nothing scrolls sideways, Tab shows its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from starlette.routing import compile_path

from app.assignments import designs
from app.assignments import queries as assignment_queries
from app.assignments import service as assignments
from app.comparisons import service as comparisons
from app.domain.review import Decision
from app.evaluations.task_health import health_of
from app.experiments.service import Asked, request_experiment
from app.exports import service as exports
from app.imports import service as imports
from app.main import _PAGE_ROUTERS
from app.models import TaskVersion, utc_now
from app.reviews import corrections, queries
from app.reviews import service as reviews
from app.rubrics import service as rubrics
from app.submissions import queries as submission_queries
from app.webhooks import service as webhooks
from tests import factories
from tests.conftest import make_settings, migrate
from tests.journeys.sample_house import SampleHouse, claimed_review, open_house
from tests.pages.conftest import PASSWORD
from workers.jobs.experiment import run as run_experiment
from workers.jobs.import_submissions import run as run_import

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROLES = {"sue": "submitter", "rob": "reviewer", "ada": "adjudicator", "max": "admin"}
# Every page with its reviewer's or admin's eyes; the other ways to look at it are the matrix.
SAMPLE = {("reviewer", "light"), ("admin", "dark")}
EACH_ROLE = pytest.mark.parametrize(
    "login",
    [
        pytest.param(login, marks=[] if role == "reviewer" else pytest.mark.matrix, id=role)
        for login, role in ROLES.items()
    ],
)
OPEN_TO_ALL = [
    "/",
    "/submissions",
    "/tasks",
    "/tasks/row-softmax",
    "/catalogue",
    "/account",
    "/account/keys",
    "/nowhere",
]
FILES_AND_FRAGMENTS = {
    "/rubrics/{public_id}/yaml", "/rubrics/{public_id}/json", "/exports/{public_id}/file",
    "/imports/{public_id}/results", "/reviews/{public_id}/source/lines", "/reviews/{public_id}/members/{letter}/lines",
    "/reviews/{review_id}/bench/history",
}  # fmt: skip
TABS_MAX = 1500
SHORTCUTS = "jk1234567890cle[]sqnuiatpvfdw?"
CORRECTION = factories.full_content(decision="reject", what_changed="The tail is not masked after all.")
EVERYTHING_OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"

# The elements that end to the right of the window and do not lie in a box that scrolls by itself.
STICKING_OUT = """[...document.querySelectorAll('main *, header *')].filter((one) =>
  one.getBoundingClientRect().right > 401 && !one.closest('.scroll, .log, pre, nav'))
  .slice(0, 5).map((one) => one.outerHTML.slice(0, 160))"""
# Null at the end; the element's own words where neither it nor a box around it shows the focus, or it is out of sight.
FOCUS = """(() => {
  const here = document.activeElement;
  if (here === document.body || here === null) return null;
  const style = getComputedStyle(here), box = here.getBoundingClientRect();
  const seen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && style.opacity !== '0'
    && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth && box.width > 1;
  return seen ? '' : here.outerHTML.slice(0, 160) + ' ' + style.outline + ' ' + JSON.stringify(box);
})()"""
STATE = """[document.activeElement.name || document.activeElement.id, document.getElementById('keys').open,
  document.querySelectorAll('.comment-row').length, document.querySelectorAll('.chip').length,
  document.querySelector('fieldset.current')?.id ?? '',
  ...[...document.querySelectorAll('input:checked')].map((one) => one.name + one.value)]"""
# What paper would not show: boxes that scroll or hide, and details that stay closed.
CUT_OFF = """(() => {
  const seen = (one) => one.checkVisibility({ contentVisibilityAuto: true });
  const isCut = (one) => one.scrollHeight > one.clientHeight + 2 && getComputedStyle(one).overflowY !== 'visible';
  const isShut = (one) => one.matches('details:not(.needs-js, :has(form))') && ![...one.children].every((child) =>
    seen(child) || child.matches('.as-text, .needs-js, button'));
  return [...document.querySelectorAll('main *:not(.sr, svg, svg *)')].filter((one) => seen(one)
    && (isCut(one) || isShut(one))).map((one) => one.outerHTML.slice(0, 140));
})()"""


@dataclass
class Walk:
    """The house after some work was done in it, and each person's addresses."""

    house: SampleHouse
    addresses: dict[str, list[str]] = field(default_factory=dict)
    draft: str = ""
    submitted: str = ""
    experiment: str = ""
    contest: str = ""
    imported: str = ""
    design: str = ""
    corrected: str = ""
    correcting: str = ""
    comparison: str = ""
    ranking: str = ""
    ranked: str = ""
    webhook: str = ""


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    settings = make_settings(tmp_path_factory.mktemp("sample"))
    migrate(settings)
    with open_house(settings) as house:
        yield work_in(house)


@pytest.fixture
def page_of(walk: Walk, chromium):
    """A function: a page with this person signed in."""
    contexts = []

    def open_page(login: str | None, width: int = 1440, **options: object):
        context = chromium.new_context(
            base_url=walk.house.url, viewport={"width": width, "height": 900}, bypass_csp=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        if login:
            page.goto("/sign-in")
            page.fill("#login", login)
            page.fill("#password", PASSWORD)
            page.press("#password", "Enter")
            page.wait_for_url(f"{walk.house.url}/")
        return page

    yield open_page
    for context in contexts:
        context.close()


def work_in(house: SampleHouse) -> Walk:
    """Two reviews that are in, one of them corrected, a decision, a correction in the making, a draft whose rubric
    has a newer version, a contest, an export, a run.
    """
    rob, ria, ada, admin = (house.people[name] for name in ("rob", "ria", "ada", "max"))
    with house.database.write() as session:
        first, submitted = (open_review(session, house, reviewer, "accepted") for reviewer in (rob, ria))
        for reviewer, opened in ((rob, first), (ria, submitted)):
            reviews.submit_review(session, house.settings, reviewer, opened, factories.full_content())
        corrected = correct(session, ria, submitted)
        reviews.submit_review(session, house.settings, ria, corrected, CORRECTION)
        correcting = correct(session, rob, first)
        subject = subject_of(session, house, "accepted")
        reviews.decide(session, ada, subject.id, decision=Decision.ACCEPT, confidence=3, reason="Both agree.")
        draft = open_review(session, house, rob, "wrong_result")
        reviews.save_draft(session, rob, draft, factories.full_content(), base_version=0)
        contest = reviews.contest_finding(session, rob, draft, code="numerics.wrong_values", reason="Only the tail.")
        exports.request_export(session, ada)
        used = draft.rubric_version
        design = open_design(session, house, rob, admin, draft)
        rubrics.publish(session, admin, rubrics.create_draft(session, admin, used.content | {"title": "Generation, 2"}))
        edited = rubrics.create_draft(session, admin, used.content | {"title": "Generation, 3"})
        walk = Walk(house, draft=f"/reviews/{draft.public_id}", submitted=f"/reviews/{submitted.public_id}")
        asked = Asked(params={"rows": 4, "cols": 127})
        walk.corrected, walk.correcting = f"/reviews/{corrected.public_id}", f"/reviews/{correcting.public_id}"
        walk.contest = f"/contests/{contest.public_id}"
        run = request_experiment(session, house.settings, rob, draft, asked)
        walk.experiment = f"/experiments/{run.public_id}"
        rows = b'{"task": "row-softmax", "files": {"s.py": "import triton"}, "key": "a"}\n{\n'
        sent = imports.request_import(session, house.people["sue"], imports.keep_upload(house.settings, rows))
        told = webhooks.create(
            session, house.settings, admin, url="https://hooks.example/in", events=["import.finished"]
        )
        webhooks.send_test(session, admin, told)
        walk.webhook = f"/admin/webhooks/{told.public_id}"
        walk.imported = f"/imports/{sent.public_id}"
        walk.design = f"/reviews/{design.public_id}"
        compare(session, walk)
        walk.addresses = addresses(walk, f"/rubrics/{used.public_id}", f"/rubrics/{edited.public_id}")
    run_experiment(house.database, house.settings, lambda: lambda *_: factories.make_report(), run.public_id)
    run_import(house.database, house.settings, sent.public_id)
    return walk


def addresses(walk: Walk, used: str, edited: str) -> dict[str, list[str]]:
    made = [f"/submissions/{made}" for made in (*walk.house.submissions.values(), walk.house.live)]
    judged = f"/submissions/{walk.house.submissions['accepted']}/reviews"
    reads = [*OPEN_TO_ALL, *made, judged, walk.submitted, walk.corrected, f"{walk.corrected}/changes"]
    reviews_too = [*reads, "/queue", "/reviews", "/rubrics", used, "/tasks/row-softmax/reviews"]
    return {
        "sue": [*reads, "/submissions/new", "/imports", walk.imported],
        "rob": [
            *reviews_too,
            walk.draft,
            walk.correcting,
            f"{walk.draft}/rubric",
            f"{walk.draft}/source",
            f"{walk.draft}/source?view=sides",
            f"{walk.draft}/links",
            f"{walk.draft}/snippets",
            f"{walk.draft}/preview",
            "/account/snippets",
            f"{walk.draft}/bench",
            walk.design,
            walk.experiment,
            walk.ranking,
            f"{walk.ranking}/members/A/source",
        ],
        "ada": [
            *reviews_too,
            "/exports",
            "/contests",
            walk.contest,
            "/admin",
            "/admin/agreement",
            "/experiments",
            "/comparisons",
            walk.comparison,
            walk.ranked,
        ],
        "max": [
            *reviews_too,
            "/admin",
            "/admin/queue",
            "/admin/people",
            "/admin/audit",
            "/admin/webhooks",
            walk.webhook,
            edited,
            f"{edited}/impact",
        ],
    }


def compare(session, walk: Walk) -> None:
    """Three submissions, ranked by one reviewer and half ranked by another."""
    house = walk.house
    names = [house.submissions[name] for name in ("accepted", "wrong_result", "measured")]
    version = submission_queries.find(session, names[0]).task_version
    subject = comparisons.open_comparison(session, house.settings, house.people["max"], version, names)
    ria, rob = (ranked(session, house, house.people[login], subject) for login in ("ria", "rob"))
    said = factories.full_ranking(notes={"A": "Mask the *tail*."})
    reviews.submit_review(session, house.settings, house.people["ria"], ria, said)
    reviews.save_draft(session, house.people["rob"], rob, factories.full_ranking(), base_version=0)
    walk.comparison, walk.ranked = f"/comparisons/{subject.public_id}", f"/reviews/{ria.public_id}"
    walk.ranking = f"/reviews/{rob.public_id}"


def ranked(session, house: SampleHouse, reviewer, subject):
    free = assignment_queries.free_slots(session, reviewer, [subject.id], utc_now())[subject.id]
    return reviews.open_review(session, reviewer, assignments.claim_slot(session, house.settings, reviewer, free).slot)


def subject_of(session, house: SampleHouse, name: str):
    submission = submission_queries.find(session, house.submissions[name])
    return submission_queries.subject_of(session, submission.id)


def correct(session, reviewer, review):
    return corrections.open_correction(session, reviewer, queries.find(session, review.public_id))


def open_review(session, house: SampleHouse, reviewer, name: str):
    return claimed_review(session, house, reviewer, house.submissions[name])


def open_design(session, house: SampleHouse, reviewer, admin, draft):
    task = session.get_one(TaskVersion, draft.subject.task_version_id)
    health = health_of(session, task.id)
    subject = designs.ask_for_review(session, house.settings, admin, task, health, reason="it is new")
    slot = assignment_queries.slots_of(session, subject.id)[0]
    claimed = assignments.claim_slot(
        session, house.settings, reviewer, assignment_queries.find_slot(session, slot.public_id)
    )
    return reviews.open_review(session, reviewer, claimed.slot)


def test_every_page_of_the_house_is_walked(walk):
    routes = {
        route.path for router in _PAGE_ROUTERS for route in router.routes if "GET" in route.methods
    } - FILES_AND_FRAGMENTS
    walked = {address.partition("?")[0] for mine in walk.addresses.values() for address in mine} | {"/sign-in"}

    assert [path for path in routes if not any(compile_path(path)[0].match(address) for address in walked)] == []


@pytest.mark.parametrize(
    ("login", "scheme"),
    [
        pytest.param(login, scheme, marks=[] if (role, scheme) in SAMPLE else pytest.mark.matrix, id=f"{role}-{scheme}")
        for login, role in ROLES.items()
        for scheme in ("light", "dark")
    ],
)
def test_axe_finds_nothing(walk, page_of, login, scheme):
    page = page_of(login, color_scheme=scheme)
    found = []
    for address in walk.addresses[login]:
        page.goto(address)
        page.evaluate(EVERYTHING_OPEN)
        found += faults(page)

    assert "\n".join(found) == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_where_one_signs_in_is_refused_or_asks_for_keys_or_texts(walk, page_of, scheme):
    stranger = page_of(None, color_scheme=scheme)
    stranger.goto("/sign-in")
    found = faults(stranger)
    stranger.fill("#login", "nobody")
    stranger.fill("#password", "wrong")
    stranger.press("#password", "Enter")
    stranger.wait_for_load_state()
    found += faults(stranger)
    reviewer = page_of("rob", color_scheme=scheme)
    reviewer.goto("/admin")
    found += faults(reviewer)
    reviewer.goto(walk.draft)
    reviewer.keyboard.press("?")
    assert reviewer.locator("#keys").is_visible()
    found += faults(reviewer)
    reviewer.keyboard.press("Escape")
    reviewer.keyboard.press("w")
    reviewer.wait_for_selector("#texts[open] [role=option]")

    assert "\n".join(found + faults(reviewer)) == ""


def test_axe_finds_a_fault_that_is_there(walk, page_of):
    page = page_of("rob")
    page.goto("/queue")
    page.evaluate("document.querySelector('h1').insertAdjacentHTML('afterend', '<input><p class=faint>')")
    page.locator("p.faint").first.evaluate("one => { one.textContent = 'pale'; one.style.color = '#ddd'; }")

    assert {fault.split(": ")[1] for fault in faults(page)} == {"label", "color-contrast"}


@EACH_ROLE
def test_nothing_scrolls_sideways_at_400_pixels(walk, page_of, login):
    page = page_of(login, width=400)
    wide = {}
    for address in walk.addresses[login]:
        page.goto(address)
        page.evaluate(EVERYTHING_OPEN)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 400:
            wide[address] = (width, page.evaluate(STICKING_OUT))

    assert wide == {}


@EACH_ROLE
def test_tab_shows_where_it_is_and_comes_through(walk, page_of, login):
    page = page_of(login)
    unseen = []
    for address in walk.addresses[login]:
        page.goto(address)
        reached = 0
        while (here := tab(page)) is not None and reached < TABS_MAX:
            reached += 1
            if here:
                unseen.append((address, here))
        assert 5 <= reached < TABS_MAX, address

    assert unseen == []


def test_no_shortcut_fires_while_typing(walk, page_of):
    """In each box of the review page: what is typed goes into the box and moves, picks and opens nothing."""
    page = page_of("rob")
    page.goto(walk.draft)
    page.evaluate(EVERYTHING_OPEN)
    boxes = page.locator("main :is(textarea, input:not([type=radio], [type=checkbox], [type=hidden]))")
    tried = 0
    for box in boxes.all():
        if not box.is_visible() or not box.is_editable() or box.evaluate("one => getComputedStyle(one).opacity") == "0":
            continue
        tried += 1
        box.focus()
        before = page.evaluate(STATE)
        page.keyboard.type(SHORTCUTS)
        after = page.evaluate(STATE)
        assert after == before, box.evaluate("one => one.outerHTML.slice(0, 200)")
    assert tried >= 15


def test_a_review_is_printed_whole(walk, page_of):
    """The draft and the submitted review: no control, no scroll box, every rationale, line and proof."""
    page = page_of("rob")
    for address in (walk.draft, walk.submitted):
        page.goto(address)
        page.emulate_media(media="print")
        assert page.locator("header.top").is_hidden()
        assert page.locator("main :is(button, form:not(#rubric)):visible").count() == 0, address
        assert page.evaluate(CUT_OFF) == [], address
    assert page.get_by_text("Well made.").is_visible()


def test_without_scripts_every_page_can_be_read(walk, page_of):
    reader = {address: login for login in ROLES for address in walk.addresses[login]}
    pages = {login: page_of(login, java_script_enabled=False) for login in ROLES}
    for address, login in reader.items():
        pages[login].goto(address)
        assert pages[login].locator("h1").first.is_visible(), address
        assert pages[login].locator(".needs-js:visible").count() == 0, address
    page = pages["rob"]
    page.goto(walk.draft)
    read = page.inner_text("main")
    assert all(words in read for words in ("Wrong result", "Not checked:", "def ", "Numerics", "Decision"))


def faults(page) -> list[str]:
    """What axe says of the page as it stands, a line for each element, with where and why."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
    where = re.sub(r"[0-9A-Z]{26}", "…", page.url.partition("//")[2].partition("/")[2])
    return [
        f"/{where}: {fault['id']}: {node['target']} {node['html'][:120]} {why(node)}"
        for fault in found
        for node in fault["nodes"]
    ]


def why(node: dict) -> str:
    return "; ".join(one["message"] for one in (*node["any"], *node["all"], *node["none"]))


def tab(page) -> str | None:
    """Press Tab.  None at the end of the page, a description where the focus cannot be seen, else nothing."""
    page.keyboard.press("Tab")
    return page.evaluate(FOCUS)
