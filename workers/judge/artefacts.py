"""What an evaluation saw, in a folder: for the operator who has to find out why a submission failed.

Nothing is written while foreign code still runs: what it should have returned lies nowhere that it could look.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.domain.report import Report
from workers.judge import claims
from workers.judge.numerics import Expected
from workers.judge.received import Leaf
from workers.judge.submission import Submission

OUTPUT_BYTES, ALL_OUTPUTS_BYTES = 64 << 20, 256 << 20
LOG_CHARACTERS = 16 << 20


@dataclass
class Artefacts:
    """Keeps failing outputs by reference until `write`; `room_bytes` bounds what their files may take."""

    room_bytes: int = ALL_OUTPUTS_BYTES
    outputs: list[_Output] = field(default_factory=list)

    def keep(self, workload: str, family: str, name: str, got: Leaf | None, expected: Expected | None) -> None:
        """Keep one output that was refused; `got` or `expected` is None where there is no such output."""
        output = _Output(workload, family, name, got, expected)
        size = sum(array.nbytes for array in output.arrays().values())
        if size > min(OUTPUT_BYTES, self.room_bytes):
            reason = (
                f"{size >> 20} MiB; at most {OUTPUT_BYTES >> 20} MiB an output and {ALL_OUTPUTS_BYTES >> 20} in all"
            )
            output = dataclasses.replace(output, got=None, expected=None, left_out=reason)
        else:
            self.room_bytes -= size
        self.outputs.append(output)

    def write(
        self, folder: Path, report: Report, submission: Submission, log: str, launches: Mapping[str, Any]
    ) -> None:
        """Write all of it into `folder`, which is made where it is missing; raises `OSError`."""
        folder.mkdir(parents=True, exist_ok=True)
        _write_json(folder / "report.json", report.to_json())
        identity = {**dataclasses.asdict(submission.identity()), "main": submission.main}
        _write_json(folder / "submission.json", identity)
        shutil.copytree(submission.root, folder / "submission")
        (folder / "log.txt").write_text(claims.text(log, LOG_CHARACTERS), encoding="utf-8")
        _write_json(folder / "launches.json", launches)
        rows = [output.write(folder / "outputs", n) for n, output in enumerate(self.outputs, 1)]
        _write_json(folder / "outputs.json", rows)


@dataclass(frozen=True)
class _Output:
    """One refused output of one call."""

    workload: str
    family: str
    name: str
    got: Leaf | None
    expected: Expected | None
    left_out: str | None = None

    def arrays(self) -> dict[str, NDArray[Any]]:
        """By the name of their files: `want` is the reference's own answer, `oracle` the same in float64."""
        found = {}
        if self.got is not None:
            found["got"] = self.got.array
        if self.expected is not None:
            found["want"] = self.expected.native
            if self.expected.oracle is not None:
                found["oracle"] = self.expected.oracle
        return found

    def write(self, folder: Path, number: int) -> dict[str, Any]:
        """Save the arrays and say what they are."""
        arrays = self.arrays()
        stem, files = _slug(f"{number:03d}-{self.workload}-{self.family}-{self.name}"), {}
        for kind, array in {**arrays, **self._error()}.items():
            folder.mkdir(exist_ok=True)
            files[kind] = f"{folder.name}/{stem}.{kind}.npy"
            np.save(folder.parent / files[kind], _savable(array))
        dtypes = {kind: array.dtype.name for kind, array in arrays.items()}
        return {
            "workload": self.workload, "family": self.family, "output": self.name, "files": files,
            "dtypes": dtypes, "left_out": self.left_out,
        }  # fmt: skip

    def _error(self) -> dict[str, NDArray[Any]]:
        """`error`: got - truth, elementwise in float64 or complex128; nothing where the shapes differ."""
        if self.got is None or self.expected is None or self.got.array.shape != self.expected.native.shape:
            return {}
        with np.errstate(all="ignore"):
            return {"error": _wide(self.got.array) - _wide(self.expected.truth)}


def _wide(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _savable(array: NDArray[Any]) -> NDArray[Any]:
    """bfloat16 and the float8 formats as float32, which holds all their values: a .npy file cannot name them."""
    return array if array.dtype.isbuiltin == 1 else array.astype(np.float32)


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text)[:120]


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
