"""JSON Schemas of the documents that the workbench writes, made from the types themselves."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from app.domain import report

DOCUMENTS: dict[str, type] = {"report": report.Report}


class _WithSpecialFloats(GenerateJsonSchema):
    """JSON has no NaN and no infinity: the report writes them as words."""

    def float_schema(self, schema: core_schema.FloatSchema) -> dict[str, Any]:
        return {"anyOf": [super().float_schema(schema), {"enum": ["nan", "inf", "-inf"]}]}


def of(name: str) -> dict[str, Any]:
    """The schema of the document `name`; raises `KeyError` for one that there is not."""
    schema = TypeAdapter(DOCUMENTS[name]).json_schema(mode="serialization", schema_generator=_WithSpecialFloats)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
