"""The web application: routers, handlers, headers, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import Depends, FastAPI
from starlette.middleware.gzip import GZipMiddleware

from app.accounts import routes as accounts_pages
from app.accounts.access import check_csrf
from app.admin import api as admin_api
from app.admin import health
from app.admin import queue_routes as admin_queue_pages
from app.admin import routes as admin_pages
from app.assignments import api as assignments_api
from app.assignments import routes as assignments_pages
from app.comparisons import api as comparisons_api
from app.comparisons import routes as comparisons_pages
from app.config import Settings, load_settings
from app.evaluations import api as evaluations_api
from app.experiments import routes as experiments_pages
from app.exports import api as exports_api
from app.exports import routes as exports_pages
from app.home import routes as home_pages
from app.imports import api as imports_api
from app.imports import incoming as imports_incoming
from app.imports import routes as imports_pages
from app.kit import pages, problems
from app.kit.assets import Assets
from app.kit.db import Database
from app.kit.headers import SecurityHeaders
from app.kit.limits import BodyLimit, Limit
from app.reviews import api as reviews_api
from app.reviews import contest_api as contests_api
from app.reviews import contest_routes as contests_pages
from app.reviews import correction_routes as reviews_corrections
from app.reviews import design_api as designs_api
from app.reviews import design_routes as reviews_designs
from app.reviews import draft_routes as reviews_drafts
from app.reviews import link_routes as reviews_links
from app.reviews import member_api as members_api
from app.reviews import member_routes as reviews_members
from app.reviews import routes as reviews_pages
from app.reviews import snippet_routes as reviews_snippets
from app.reviews import source_routes as reviews_source_pages
from app.rubrics import api as rubrics_api
from app.rubrics import routes as rubrics_pages
from app.rubrics import service as rubrics
from app.submissions import api as submissions_api
from app.submissions import routes as submissions_pages
from app.tasks import api as tasks_api
from app.tasks import routes as tasks_pages
from app.webhooks import api as webhooks_api
from app.webhooks import routes as webhooks_pages

API = "/api/v1"
_API_ROUTERS = (
    tasks_api.router, submissions_api.router, imports_api.router, evaluations_api.router, rubrics_api.router,
    assignments_api.router, reviews_api.router, designs_api.router, contests_api.router, members_api.router,
    comparisons_api.router, exports_api.router, admin_api.router, webhooks_api.router,
)  # fmt: skip
_PAGE_ROUTERS = (
    home_pages.router, accounts_pages.router, tasks_pages.router, submissions_pages.router, imports_pages.router,
    rubrics_pages.router, assignments_pages.router, reviews_drafts.router, reviews_pages.router,
    reviews_source_pages.router, reviews_links.router, reviews_snippets.router, reviews_designs.router,
    reviews_corrections.router, reviews_members.router, contests_pages.router, comparisons_pages.router,
    exports_pages.router, experiments_pages.router, admin_pages.router, admin_queue_pages.router,
    webhooks_pages.router,
)  # fmt: skip
_FORM_OVERHEAD_BYTES = 1 << 20
_COMPRESSED_FROM_BYTES, _COMPRESSION = 2_000, 4  # what is saved beyond that is not worth the time


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application for these settings, or for the process's own."""
    settings = settings or load_settings()
    app = FastAPI(
        title="Kernel review workbench", version="1", lifespan=_lifespan, docs_url=None, redoc_url=None,
        openapi_url=f"{API}/openapi.json",
    )  # fmt: skip
    app.state.settings = settings
    app.state.database = Database(settings)
    problems.install(app)
    _include_routers(app)
    # After the routers: importing their modules is what fills the filters that templates use.
    app.state.templates = pages.make_environment()
    app.add_middleware(GZipMiddleware, minimum_size=_COMPRESSED_FROM_BYTES, compresslevel=_COMPRESSION)
    for_one = Limit(settings.bundle_bytes_max + _FORM_OVERHEAD_BYTES)
    for_many = Limit(settings.import_bytes_max + _FORM_OVERHEAD_BYTES, what_to_do="Send it in parts.")
    app.add_middleware(BodyLimit, limit=for_one, others=dict.fromkeys(imports_incoming.PATHS, for_many))
    app.add_middleware(SecurityHeaders, is_https=settings.is_https)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    settings: Settings = app.state.settings
    anyio.to_thread.current_default_thread_limiter().total_tokens = settings.threads_per_process
    with app.state.database.write() as session:
        rubrics.seed(session)
    threading.Thread(target=app.state.database.sender.warm_up, name="warm-up", daemon=True).start()
    yield
    app.state.database.close()


def _include_routers(app: FastAPI) -> None:
    app.include_router(health.router)
    for router in _API_ROUTERS:
        app.include_router(router, prefix=API)
    for router in _PAGE_ROUTERS:
        app.include_router(router, dependencies=[Depends(check_csrf)])
    app.mount("/static", Assets(), name="static")
