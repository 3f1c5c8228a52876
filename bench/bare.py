"""What anybody would write first: import, make the inputs, run submission and reference once, in one process.

Run by the torch runtime: `python bench/bare.py CASE_FOLDER`.
"""

import importlib.util
import sys
import tomllib
from pathlib import Path


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


folder = Path(sys.argv[1])
reference, submission = load(folder / "reference.py"), load(folder / "submission.py")
for workload in tomllib.loads((folder / "task.toml").read_text())["workloads"]:
    inputs = reference.make_inputs(seed=1, **workload["params"])
    submission.solution(*inputs)
    reference.reference(*inputs)
