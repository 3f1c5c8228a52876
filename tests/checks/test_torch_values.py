from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PYTHON = REPOSITORY / ".runtimes" / "torch" / "bin" / "python"


@pytest.mark.skipif(not PYTHON.exists(), reason="the torch runtime is not installed")
def test_takes_tensors_of_every_format():
    program = Path(__file__).with_name("torch_values.py")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([PYTHON, program], env=environment, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
