"""Judge every labelled case again and again with fresh secrets, and say whose verdict flips.

`python -m tests.run_stability [--match REGEX] [--times N] [--zoo]`: the cases beside the repository, or the zoo of
tests/kernels with `--zoo`.  A verdict that hangs on the secret is printed as `unstable 3/20`, with what came instead.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from app.domain.request import EvaluationRequest
from tests.kernels import engine
from tests.run_shared_cases import cases
from workers.judge.pipeline import evaluate


def subjects(match: str, *, zoo: bool) -> Iterator[tuple[str, Path, Path]]:
    """Name, task folder and submission of everything that is to be judged."""
    if zoo:
        yield from ((s.name, s.task, s.path) for s in engine.specimens(match))
    else:
        yield from ((folder.name, folder, next(folder.glob("submission.*"))) for folder in cases(match))


def main() -> int:
    """Print a line per case; exit 1 when one flipped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--match", default=".")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--zoo", action="store_true")
    arguments = parser.parse_args()
    evaluations = unstable = 0
    with engine.warm_sandboxes() as sandboxes:
        for name, task, submission in subjects(arguments.match, zoo=arguments.zoo):
            start = time.monotonic()
            seen = Counter(
                str(evaluate(EvaluationRequest(task, submission, secret=secrets.token_bytes(32)), sandboxes).verdict)
                for _ in range(arguments.times)
            )
            (verdict, count), *others = seen.most_common()
            flips = arguments.times - count
            state = f"unstable {flips}/{arguments.times}" if others else "stable"
            rest = "".join(f", {other} {n}" for other, n in others)
            print(f"{state:<15} {name:<40} {verdict} {count}{rest}  {time.monotonic() - start:.1f} s", flush=True)
            evaluations, unstable = evaluations + arguments.times, unstable + bool(others)
    print(f"\n{evaluations} evaluations; {unstable} cases whose verdict flipped")
    return 1 if unstable else 0


if __name__ == "__main__":
    sys.exit(main())
