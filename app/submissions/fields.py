"""The fields of a submission as JSON has them: one by one over REST, or as the rows of an import."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.errors import Invalid, clipped
from app.kit import trees
from app.submissions.service import NewSubmission

PROBLEMS_MAX = 50
KEY_LENGTH_MAX = 180
F = TypeVar("F", bound="SubmissionIn")


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

    def tree(self) -> trees.Tree:
        return {path: text.encode() for path, text in self.files.items()}

    def new(self, files: trees.Tree) -> NewSubmission:
        """What is to be submitted, with these files."""
        if not files:
            raise Invalid("no source was sent", what_to_do="Send `files` as JSON, or a `file` part in a form.")
        said = {name: getattr(self, name) for name in SubmissionIn.model_fields if name != "files"}
        return NewSubmission(
            **said | {"files": files, "framework": self.framework or None, "parent": self.parent or None}
        )


class RowIn(SubmissionIn):
    """A row of an import.  `key` does for the row what `Idempotency-Key` does for a request."""

    key: str | None = Field(None, min_length=1, max_length=KEY_LENGTH_MAX)


def checked(fields: Any) -> SubmissionIn:
    return _checked(SubmissionIn, fields)


def checked_row(fields: Any) -> RowIn:
    return _checked(RowIn, fields)


def _checked(kind: type[F], fields: Any) -> F:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        problems = [clipped(f"{'.'.join(map(str, e['loc'])) or 'body'}: {e['msg']}") for e in error.errors()]
        raise Invalid(problems[0], what_to_do="Correct what is listed.", problems=problems[:PROBLEMS_MAX]) from None
