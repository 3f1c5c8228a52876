"""What the upload form holds: read with every typed field kept, so that a refused upload loses nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import Request
from starlette.datastructures import UploadFile

from app.config import Settings
from app.errors import Invalid, WorkbenchError
from app.kit import trees
from app.kit.figures import whole_number
from app.submissions import claim_fields, service

SUFFIX_OF = {"cuda": ".cu", "hip": ".hip", "stablehlo": ".mlir", "ttir": ".mlir", "ptx": ".ptx"}


@dataclass(frozen=True)
class UploadForm:
    """The fields as typed, and the files as they came."""

    task: str = ""
    framework: str = ""
    title: str = ""
    source: str = ""
    filename: str = ""
    explanation: str = ""
    model_name: str = ""
    model_settings: str = ""
    prompt: str = ""
    parent: str = ""
    claims: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys(claim_fields.FIELDS, ""))
    uploads: tuple[tuple[str, bytes], ...] = ()

    def tree(self, settings: Settings) -> trees.Tree:
        """The files sent, else the pasted source."""
        tree: trees.Tree = {}
        for name, data in self.uploads:
            tree = trees.joined(tree, service.read_upload(settings, name, data))
        if tree and self.source.strip():
            raise Invalid(
                "there is a file and a pasted source",
                what_to_do="Send one of the two: empty the box or leave the file out.",
            )
        if not tree and not self.source.strip():
            raise Invalid("no source was sent", what_to_do="Choose a file, or paste the kernel's source.")
        return tree or service.read_upload(settings, self._pasted_name(), self.source.encode())

    def new(self, settings: Settings) -> service.NewSubmission:
        name, _, version = self.task.partition("@")
        if not name:
            raise Invalid("no task is chosen", what_to_do="Choose the task that this kernel solves.")
        model = {k: v for k, v in (("name", self.model_name.strip()), ("settings", self.model_settings.strip())) if v}
        return service.NewSubmission(
            files=self.tree(settings),
            task=name,
            task_version=whole_number(version),
            framework=self.framework or None,
            title=self.title,
            model=model,
            prompt=self.prompt,
            explanation=self.explanation,
            claims=claim_fields.statements(self.claims),
            parent=self.parent.strip() or None,
        )

    def field_of(self, error: WorkbenchError) -> str:
        """Which field an error is about, so that it can stand beside it."""
        message = error.message.lower()
        if "claim" in message:
            return "claims"
        for word, named in (
            ("title", "title"),
            ("prompt", "prompt"),
            ("said of the model", "model_name"),
            ("explanation", "explanation"),
            ("framework", "framework"),
            ("does not take", "framework"),
            ("parent", "parent"),
            ("submission '", "parent"),
            ("task", "task"),
        ):
            if word in message:
                return named
        return "source"

    def with_file_in_box(self) -> UploadForm:
        """A browser cannot keep a chosen file; a single text file comes back in the box for pasting."""
        if len(self.uploads) != 1 or self.source.strip():
            return self
        name, data = self.uploads[0]
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            return self
        return self if "\0" in text else replace(self, source=text, filename=name, uploads=())

    def _pasted_name(self) -> str:
        return self.filename.strip() or "solution" + SUFFIX_OF.get(
            self.framework, ".cu" if "__global__" in self.source else ".py"
        )


async def read_upload_form(request: Request) -> UploadForm:
    """A dependency: the form's text as typed, and its files read within the size that the server takes."""
    form = await request.form()
    typed: dict[str, Any] = {
        f: str(form.get(f, "")) for f in UploadForm.__dataclass_fields__ if f not in ("uploads", "claims")
    }
    typed["claims"] = {name: str(form.get(name, "")) for name in claim_fields.FIELDS}
    files = [f for f in form.getlist("files") if isinstance(f, UploadFile) and f.filename]
    # A pasted form sends CRLF; a kernel's source keeps the line ends of its author's editor.
    typed["source"] = typed["source"].replace("\r\n", "\n")
    uploads = [(f.filename or "", await f.read()) for f in files]
    await form.close()
    return UploadForm(**typed, uploads=tuple(uploads))
