"""What the API takes as a submission: JSON with the files' text, or a form with a file or an archive."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import Request
from starlette.datastructures import UploadFile

from app.config import Settings
from app.errors import Invalid
from app.kit import strict_json, trees
from app.submissions import service
from app.submissions.fields import SubmissionIn, checked
from app.submissions.service import NewSubmission


@dataclass(frozen=True)
class Incoming:
    """A request's fields and its raw uploads; archives are unpacked later, off the event loop."""

    fields: SubmissionIn
    uploads: list[tuple[str, bytes]] = field(default_factory=list)

    def new(self, settings: Settings) -> NewSubmission:
        files = self.fields.tree()
        for name, data in self.uploads:
            files = trees.joined(files, service.read_upload(settings, name, data))
        return self.fields.new(files)


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
        return Incoming(checked(strict_json.read(await request.body(), "the body")))
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
    return Incoming(checked(fields), uploads)
