"""The web application: routers, handlers, headers, and nothing else."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import Depends, FastAPI

from app.accounts.access import check_csrf
from app.admin import api as admin_api
from app.admin import health
from app.assignments import api as assignments_api
from app.config import Settings, load_settings
from app.evaluations import api as evaluations_api
from app.exports import api as exports_api
from app.kit import pages, problems
from app.kit.db import Database
from app.kit.headers import SecurityHeaders
from app.kit.limits import BodyLimit
from app.reviews import api as reviews_api
from app.rubrics import api as rubrics_api
from app.rubrics import service as rubrics
from app.submissions import api as submissions_api
from app.tasks import api as tasks_api

API = "/api/v1"
_API_ROUTERS = (tasks_api, submissions_api, evaluations_api, rubrics_api, assignments_api, reviews_api, exports_api, admin_api)
_PAGE_MODULES = ("accounts", "home", "tasks", "submissions", "evaluations", "rubrics", "assignments", "reviews", "exports", "admin")
_FORM_OVERHEAD_BYTES = 1 << 20


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
    app.add_middleware(BodyLimit, bytes_max=settings.bundle_bytes_max + _FORM_OVERHEAD_BYTES)
    app.add_middleware(SecurityHeaders, is_https=settings.is_https)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    settings: Settings = app.state.settings
    anyio.to_thread.current_default_thread_limiter().total_tokens = settings.web_threads
    with app.state.database.write() as session:
        rubrics.seed(session)
    yield
    app.state.database.close()


def _include_routers(app: FastAPI) -> None:
    app.include_router(health.router)
    for module in _API_ROUTERS:
        app.include_router(module.router, prefix=API)
    for noun in _PAGE_MODULES:
        if importlib.util.find_spec(f"app.{noun}.routes"):
            routes = importlib.import_module(f"app.{noun}.routes")
            app.include_router(routes.router, dependencies=[Depends(check_csrf)])
    if importlib.util.find_spec("app.kit.assets"):
        from app.kit.assets import Assets

        app.mount("/static", Assets(), name="static")
