"""Whether a column is one of some numbers, as a single parameter.

With a parameter for each number, every count is another statement: to be built, compiled, parsed and planned anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Self

from sqlalchemy import ARRAY, Boolean, Integer, String, TypeDecorator, bindparam
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


def among(column: Any, parameter: str) -> FunctionElement[bool]:
    """`parameter` names the numbers, which are given when the statement is executed."""
    return _Among(column, bindparam(parameter, type_=_Numbers()))


class _Numbers(TypeDecorator[Iterable[int]]):
    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        return dialect.type_descriptor(ARRAY(Integer()) if dialect.name == "postgresql" else String())

    def process_bind_param(self, value: Iterable[int] | None, dialect: Dialect) -> Any:
        numbers = list(value or ())
        return numbers if dialect.name == "postgresql" else json.dumps(numbers)


class _Among(FunctionElement[bool]):
    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Self:  # noqa: ARG002 - the base's signature
        """A condition already: SQLite would be asked whether it equals 1, and then looks at every row."""
        return self


@compiles(_Among, "postgresql")
def _as_array(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, numbers = element.clauses
    return f"{compiler.process(column, **options)} = ANY ({compiler.process(numbers, **options)})"


@compiles(_Among, "sqlite")
def _as_json(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, numbers = element.clauses
    values = compiler.process(numbers, **options)
    return f"{compiler.process(column, **options)} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - a parameter
