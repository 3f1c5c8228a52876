"""What the API takes as a submission: JSON with the files' text, or a form with a file or an archive."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import UploadFile

from app.config import Settings
from app.errors import Invalid
from app.kit import strict_json, trees
from app.submissions import service
from app.submissions.service import NewSubmission


class SubmissionIn(BaseModel):
    """`files` maps relative paths to source text; a form sends `file` parts in its place."""

    model_config = ConfigDict(extra="forbid")

    task: str
    task_version: int | None = None
    files: dict[str, str] = Field({}, max_length=10_000)
    framework: str | None = None
    title: str = ""
    model: dict[str, Any] = {}
    prompt: str = ""
    explanation: str = ""
    claims: list[Any] = []
    parent: str | None = None


@dataclass(frozen=True)
class Incoming:
    """A request's fields and its raw uploads; archives are unpacked later, off the event loop."""

    fields: SubmissionIn
    uploads: list[tuple[str, bytes]] = field(default_factory=list)

    def new(self, settings: Settings) -> NewSubmission:
        files: trees.Tree = {path: text.encode() for path, text in self.fields.files.items()}
        for name, data in self.uploads:
            files = trees.joined(files, service.read_upload(settings, name, data))
        if not files:
            raise Invalid("no source was sent", what_to_do="Send `files` as JSON, or a `file` part in a form.")
        rest = self.fields.model_dump(exclude={"files", "framework", "parent"})
        return NewSubmission(
            files=files, framework=self.fields.framework or None, parent=self.fields.parent or None, **rest
        )


_JSON = SubmissionIn.model_json_schema()
_FORM = {
    "type": "object",
    "required": ["task", "file"],
    "properties": {
        **{name: {"type": "string"} for name in SubmissionIn.model_fields if name != "files"},
        "file": {"type": "array", "items": {"type": "string", "format": "binary"}},
    },
}
OPENAPI = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": _JSON}, "multipart/form-data": {"schema": _FORM}},
    }
}


async def read_incoming(request: Request) -> Incoming:
    """A dependency: reads whichever of the two was sent."""
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return Incoming(_checked(strict_json.read(await request.body(), "the body")))
    if kind in ("multipart/form-data", "application/x-www-form-urlencoded"):
        return await _read_form(request)
    raise Invalid(
        f"the content type {kind or '(none)'!r} is not taken",
        what_to_do="Send application/json or multipart/form-data.",
    )


async def _read_form(request: Request) -> Incoming:
    uploads, fields = [], {}
    async with request.form() as form:
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                uploads.append((value.filename or "solution.py", await value.read()))
            elif name in ("model", "claims"):
                fields[name] = (
                    strict_json.read(value, f"`{name}`") if value.strip() else SubmissionIn.model_fields[name].default
                )
            elif value != "":
                fields[name] = value
    return Incoming(_checked(fields), uploads)


def _checked(fields: Any) -> SubmissionIn:
    try:
        return SubmissionIn.model_validate(fields)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, e['loc'])) or 'body'}: {e['msg']}" for e in error.errors()]
        raise Invalid(problems[0], what_to_do="Correct what is listed.", problems=problems) from None
