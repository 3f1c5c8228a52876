"""A submission as it lies on disk: its files, its framework, the file that holds the entry point."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.domain import claims
from app.domain.report import SubmissionIdentity
from app.domain.task import FRAMEWORKS, TaskSpec
from workers.judge.faults import SubmissionError

# What may lie beside a source without being part of it.
BESIDE = ("build.json", claims.FILE)
MAX_FILES = 500
MAX_BYTES = 20 << 20
# Of all sources that are read here: a syntax tree takes hundreds of times its text.
MAX_SOURCE_BYTES = 1 << 20
# Words that decide a framework, most specific first.
_SIGNS = (
    ("nki", re.compile(r"^[ \t]*(?:import|from)\s+(?:neuronxcc|nki)\b", re.MULTILINE)),
    ("pallas", re.compile(r"\bjax\.experimental(?:\.|\s+import\s+)pallas\b")),
    ("triton", re.compile(r"^[ \t]*(?:import|from)\s+triton\b", re.MULTILINE)),
)
_SUFFIXES = {".cu": "cuda", ".cuh": "cuda", ".hip": "hip", ".ptx": "ptx", ".ttir": "ttir", ".mlir": "stablehlo"}
_MAIN_NAMES = ("submission", "solution", "kernel", "main")


@dataclass(frozen=True)
class Submission:
    """What was submitted.  `root` holds exactly `files`; `main` is the one with the entry point."""

    root: Path
    files: tuple[str, ...]
    main: str
    framework: str
    sha256: str

    def sources(self) -> Iterator[tuple[str, str]]:
        """Every file that is text, with its text, but those of `unread_sources`."""
        unread = self.unread_sources()
        for name in self.files:
            if name not in unread and b"\0" not in (data := (self.root / name).read_bytes()):
                yield name, data.decode("utf-8", errors="replace")

    def unread_sources(self) -> list[str]:
        """Files that are too much to be read here: the main file comes first, then the shortest."""
        sizes = {name: (self.root / name).stat().st_size for name in self.files}
        unread, room = [], MAX_SOURCE_BYTES
        for name in sorted(self.files, key=lambda name: (name != self.main, sizes[name])):
            if sizes[name] > room:
                unread.append(name)
            else:
                room -= sizes[name]
        return unread

    def identity(self) -> SubmissionIdentity:
        return SubmissionIdentity(self.sha256, self.framework, self.files)


def read_submission(path: Path, spec: TaskSpec, staging: Path, framework: str | None = None) -> Submission:
    """Copy the submission's files into `staging` and describe them; raises `SubmissionError`."""
    files = _gather(path)
    for name, data in files.items():
        target = staging / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    guessed = _guess(files)
    chosen = _choose(framework, guessed, spec)
    return Submission(staging, tuple(sorted(files)), _main(files, spec.entry), chosen, _sha256(files))


def _gather(path: Path) -> dict[str, bytes]:
    if path.is_symlink() or not path.exists():
        raise SubmissionError(f"{path}: no such file or folder")
    if path.is_file():
        found = {path.name: path}
        for name in BESIDE:
            if (beside := path.parent / name).is_file() and not beside.is_symlink():
                found[name] = beside
    else:
        found = {
            p.relative_to(path).as_posix(): p for p in sorted(path.rglob("*")) if p.is_file() and not p.is_symlink()
        }
        found = {name: p for name, p in found.items() if "__pycache__" not in name}
    if not found:
        raise SubmissionError(f"{path}: the folder holds no file")
    if odd := [name for name in found if not name.isprintable()]:
        raise SubmissionError(f"{odd[0]!r}: a file's name is one line of printable text")
    if len(found) > MAX_FILES or sum(p.stat().st_size for p in found.values()) > MAX_BYTES:
        raise SubmissionError(f"{path}: at most {MAX_FILES} files and {MAX_BYTES >> 20} MiB in all")
    return {name: p.read_bytes() for name, p in found.items()}


def _guess(files: dict[str, bytes]) -> str:
    for name in files:
        if Path(name).suffix in _SUFFIXES:
            return _SUFFIXES[Path(name).suffix]
    text = "\n".join(data.decode("utf-8", errors="replace") for name, data in files.items() if name.endswith(".py"))
    if not text:
        raise SubmissionError(f"no framework recognised in {', '.join(files)}; name one: {', '.join(FRAMEWORKS)}")
    if b"\0" in b"".join(data for name, data in files.items() if name.endswith(".py")):
        raise SubmissionError("a .py file holds binary data; upload source text")
    return next((framework for framework, sign in _SIGNS if sign.search(text)), "torch")


def _choose(asked: str | None, guessed: str, spec: TaskSpec) -> str:
    accepted = ", ".join(spec.frameworks)
    if asked is not None:
        if asked not in spec.frameworks:
            raise SubmissionError(f"the task {spec.name} accepts {accepted}, not {asked}")
        return asked
    if guessed in spec.frameworks:
        return guessed
    # A Python program is run by the framework that the task names: torch code runs under triton's too,
    # and whether a kernel of its own did the work is a question for the evidence, not for the upload.
    if guessed in ("torch", "triton") and {"torch", "triton"} & set(spec.frameworks):
        return "triton" if "triton" in spec.frameworks or guessed == "triton" else "torch"
    raise SubmissionError(f"this looks like {guessed}, but the task {spec.name} accepts {accepted}")


def _main(files: dict[str, bytes], entry: str) -> str:
    sources = [name for name in files if name not in BESIDE]
    if len(sources) == 1:
        return sources[0]
    python = [name for name in sources if name.endswith(".py")] or sources
    defines = re.compile(rf"^(?:def|class)[ \t]+{re.escape(entry)}\b|^{re.escape(entry)}[ \t]*=", re.MULTILINE)
    defining = [n for n in python if defines.search(files[n].decode("utf-8", errors="replace"))] or python
    return min(defining, key=lambda name: (name.count("/"), _rank(Path(name).stem), name))


def _rank(stem: str) -> int:
    return _MAIN_NAMES.index(stem) if stem in _MAIN_NAMES else len(_MAIN_NAMES)


def _sha256(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{len(name)}:{name}:{len(files[name])}:".encode())
        digest.update(files[name])
    return digest.hexdigest()
