"""Source files: what may be in a submission, and which framework it is written in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from app.domain import claims
from app.domain.task import FRAMEWORKS
from app.errors import Invalid, TooLarge
from app.kit import strict_json
from app.kit.trees import Tree

BUILD, CLAIMS = "build.json", claims.FILE

# Profilers write these; everything else in a submission is read by people and must be text.
BINARY_SUFFIXES = (".ncu-rep", ".nsys-rep", ".ntff", ".neff", ".xplane.pb", ".npz")

_LANGUAGES = {
    ".py": "python", ".cu": "cuda", ".cuh": "cuda", ".hip": "cuda", ".cpp": "cpp", ".cc": "cpp", ".h": "cpp",
    ".hpp": "cpp", ".json": "json", ".md": "markdown", ".toml": "toml", ".ptx": "ptx", ".mlir": "mlir",
}  # fmt: skip

# In order: the first that matches decides.  Only a guess; the author can say otherwise.
# Each reads a line once: `^\s*` would run over all the empty lines that follow, from every one of them.
_SIGNS: tuple[tuple[str, str], ...] = (
    (r"^[ \t]*(?:import|from)[ \t]+(?:neuronxcc|nki)\b", "nki"),
    (r"\bjax\.experimental(?:\.|[ \t]+import[ \t]+)pallas|\bpl\.pallas_call\b", "pallas"),
    (r"@triton\.jit|^[ \t]*(?:import|from)[ \t]+triton\b", "triton"),
    (r"hip/hip_runtime\.h|\bhipLaunchKernel", "hip"),
    (r"__global__|cuda_runtime\.h|\bload_inline\b|cpp_extension|\bcuda_sources\b", "cuda"),
    (r"^[ \t]*\.target[ \t]+sm_", "ptx"),
    (r"\bstablehlo\.", "stablehlo"),
    (r"\btt\.func\b|\btt\.load\b", "ttir"),
    (r"^[ \t]*(?:import|from)[ \t]+torch\b", "torch"),
)


@dataclass(frozen=True)
class SourceFile:
    """One file as pages show it; `text` is None for a profiler's binary."""

    path: str
    language: str
    size_bytes: int
    sha256: str
    text: str | None


def check_sources(tree: Tree, *, file_bytes_max: int) -> None:
    """Refuse binaries posing as source and files too large to read, naming the file."""
    for path, data in tree.items():
        if len(data) > file_bytes_max:
            raise TooLarge(f"`{path}` is larger than {file_bytes_max // (1 << 20)} MiB", what_to_do="Make it smaller.")
        if not path.endswith(BINARY_SUFFIXES) and not is_text(data):
            raise Invalid(
                f"`{path}` is not text",
                what_to_do="Send source code as UTF-8 text; compiled files and pictures are not taken.",
            )
    kernels = {path: data for path, data in tree.items() if PurePosixPath(path).name not in (BUILD, CLAIMS)}
    if not kernels:
        raise Invalid("no source file in it", what_to_do="Send the kernel's source beside build.json and claims.json.")
    if not any(data.strip() for data in kernels.values()):
        raise Invalid(f"`{min(kernels)}` is empty", what_to_do="Send the file with its source in it.")


def is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False


def decide_framework(tree: Tree, said: str | None, allowed: Sequence[str]) -> str:
    """The framework said, else the one the sources look like; must be one that the task takes."""
    framework = said or guess_framework(tree, allowed)
    if framework not in FRAMEWORKS:
        raise Invalid(f"unknown framework {framework!r}", what_to_do=f"Choose from {', '.join(allowed)}.")
    if framework not in allowed:
        raise Invalid(
            f"this task does not take {framework}; it takes {', '.join(allowed)}",
            what_to_do="Choose another task, or say which framework the source is written in.",
        )
    return framework


def guess_framework(tree: Tree, allowed: Sequence[str]) -> str:
    text = "\n".join(
        data.decode("utf-8", "replace") for path, data in tree.items() if not path.endswith(BINARY_SUFFIXES)
    )
    for pattern, framework in _SIGNS:
        if re.search(pattern, text, re.MULTILINE):
            return framework
    return allowed[0]


def read_claims(tree: Tree) -> list[Any]:
    """`claims.json` as a list; one that cannot be read is an error now rather than a surprise in the report."""
    data = tree.get(CLAIMS)
    if data is None:
        return []
    said = strict_json.read(data, CLAIMS)
    try:
        claims.parse(data)
    except claims.ClaimsError as error:
        raise Invalid(str(error), what_to_do=error.what_to_do) from None
    return said if isinstance(said, list) else [said]


def show(path: str, sha256: str, data: bytes) -> SourceFile:
    text = data.decode("utf-8") if is_text(data) else None
    return SourceFile(path, _LANGUAGES.get(PurePosixPath(path).suffix, "text"), len(data), sha256, text)
