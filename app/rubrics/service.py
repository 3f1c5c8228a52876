"""Rubrics: drafts are edited, a published version never changes, and a retired one is used no more."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from app.accounts.policy import Viewer
from app.errors import Conflict, Invalid
from app.kit import audit
from app.models import Rubric, RubricVersion, utc_now
from app.rubrics import changes, content, lint, queries

DATA = Path(__file__).parent / "data"


def create_draft(session: Session, viewer: Viewer | None, data: dict[str, Any]) -> RubricVersion:
    """A new rubric, or the next version of the one with this key."""
    checked = content.read(data)
    rubric = queries.rubric_by_key(session, checked.key)
    if rubric is None:
        rubric = Rubric(key=checked.key, title=checked.title)
        session.add(rubric)
        session.flush()
    if queries.draft_of(session, rubric.id) is not None:
        raise Conflict(f"{checked.key!r} already has a draft", what_to_do="Edit or publish that one.")
    versions = queries.list_versions(session, rubric_id=rubric.id)
    draft = RubricVersion(
        rubric_id=rubric.id, rubric=rubric, version=versions[0].version + 1 if versions else 1, state="draft",
        content=checked.model_dump(mode="json"),
    )  # fmt: skip
    session.add(draft)
    session.flush()
    _note(session, viewer, "rubric.draft", draft)
    return draft


def update_draft(
    session: Session, viewer: Viewer, version: RubricVersion, data: dict[str, Any], *, base: str | None = None
) -> RubricVersion:
    """`base` is the hash of what the editor began with: who saved in between is not overwritten."""
    checked = content.read(data)
    _must_be_draft(version)
    if base is not None and base != draft_sha256(version):
        raise Conflict(
            "somebody saved this draft while you edited it",
            what_to_do="Yours stands below; open the draft in another window and bring the two together.",
        )
    if checked.key != version.rubric.key:
        raise Conflict("a rubric's key never changes", what_to_do="Clone it under the new key.")
    version.content = checked.model_dump(mode="json")
    _note(session, viewer, "rubric.update", version)
    return version


def draft_sha256(version: RubricVersion) -> str:
    return content.sha256_of(content.read(version.content))


def publish(session: Session, viewer: Viewer | None, version: RubricVersion) -> RubricVersion:
    """Freeze a draft: from now on it has a hash and never changes."""
    _must_be_draft(version)
    checked = content.read(version.content)
    if faults := lint.faults(checked):
        raise Invalid("the rubric has faults: " + faults[0], what_to_do="Correct what is listed.", problems=faults)
    version.change_class = change_class(session, version)
    version.state, version.sha256, version.published_at = "published", content.sha256_of(checked), utc_now()
    version.published_by_id = viewer.id if viewer else None
    version.rubric.title = checked.title
    _note(session, viewer, "rubric.publish", version, sha256=version.sha256, change=version.change_class)
    return version


def change_class(session: Session, version: RubricVersion) -> str | None:
    """How far the version goes beyond the one published before it; None for the first."""
    before = queries.published_before(session, version)
    return changes.reach_of(changed_since(before, version)).word if before else None


def changed_since(before: RubricVersion, version: RubricVersion) -> list[changes.Change]:
    return changes.changes(content.read(before.content), content.read(version.content))


def retire(session: Session, viewer: Viewer, version: RubricVersion) -> None:
    """No new review starts with it; reviews that pin it keep rendering with it."""
    if version.state != "published":
        raise Conflict("only a published version can be retired")
    version.state, version.retired_at = "retired", utc_now()
    _note(session, viewer, "rubric.retire", version)


def clone(
    session: Session, viewer: Viewer, version: RubricVersion, *, key: str, title: str | None = None
) -> RubricVersion:
    """A draft of a new rubric with the same criteria."""
    if queries.rubric_by_key(session, key) is not None:
        raise Conflict(f"there is already a rubric {key!r}", what_to_do="Choose another key.")
    copy = {**version.content, "key": key, "title": title or version.content["title"]}
    draft = create_draft(session, viewer, copy)
    draft.rubric.cloned_from = version.public_id
    return draft


def import_yaml(session: Session, viewer: Viewer | None, text: str) -> RubricVersion:
    return create_draft(session, viewer, content.read_yaml(text).model_dump(mode="json"))


def export_yaml(version: RubricVersion) -> str:
    return content.write_yaml(content.read(version.content))


def export_json(version: RubricVersion) -> str:
    return content.write_json(content.read(version.content))


def applicable(session: Session, *, task_kind: str, subject: str = "submission") -> RubricVersion | None:
    """The published rubric a review of this kind starts with: the most recently published one."""
    for version in queries.published(session):
        kinds = version.content.get("kinds", [])
        if version.content.get("subject", "submission") == subject and (not kinds or task_kind in kinds):
            return version
    return None


def seed(session: Session) -> int:
    """Publish the rubrics that ship with the house, each edition once; admins edit copies.  How many were new."""
    new = 0
    queries.lock_all(session)
    for shipped in _shipped():
        if _is_wanted(session, shipped):
            publish(session, None, create_draft(session, None, shipped.model_dump(mode="json")))
            new += 1
    return new


def _is_wanted(session: Session, shipped: content.RubricContent) -> bool:
    """A new edition supersedes an older one of ours, but never what people here have made of it."""
    rubric = queries.rubric_by_key(session, shipped.key)
    versions = queries.list_versions(session, rubric_id=rubric.id) if rubric else []
    is_untouched = all(v.state == "published" and v.published_by_id is None for v in versions)
    return is_untouched and all(v.sha256 != content.sha256_of(shipped) for v in versions)


@lru_cache(maxsize=1)
def _shipped() -> tuple[content.RubricContent, ...]:
    return tuple(content.read_yaml(path.read_text(encoding="utf-8")) for path in sorted(DATA.glob("*.yaml")))


def _must_be_draft(version: RubricVersion) -> None:
    if version.state != "draft":
        raise Conflict("a published version never changes", what_to_do="Make a draft of the next version.")


def _note(session: Session, viewer: Viewer | None, action: str, version: RubricVersion, **detail: Any) -> None:
    audit.note(session, viewer.id if viewer else None, action, version.public_id, **detail)
