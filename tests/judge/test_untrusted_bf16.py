"""An interpreter with one bf16 fix missing judges no bf16, and everything else as ever."""

import shutil
from pathlib import Path

import pytest

from app.domain.report import Verdict
from workers.judge import foreign
from workers.sandbox import Program

REPOSITORY = Path(__file__).resolve().parents[2]
FIXES = "workers/candidate/frameworks/triton_cpu/numerics_bf16.py"
WITHOUT_ONE = "\n\ndel NarrowArithmetic.binary_op  # the stock interpreter's takes the bits for the values\n"
REFERENCE = """
import torch

def make_inputs(*, seed, n):
    return (torch.randn(n, generator=torch.Generator().manual_seed(seed)).{dtype}(),)

def reference(x):
    return x + x
"""
KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n)
    tl.store(y + at, {value}, mask=at < n)

def solution(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return y
"""
NARROW, WIDE = "values + values", "(values.to(tl.float32) * 2).to(values.dtype)"


@pytest.fixture
def without_the_fix(monkeypatch, tmp_path_factory):
    code = tmp_path_factory.mktemp("code")
    for room in ("candidate", "wire"):
        shutil.copytree(REPOSITORY / "workers" / room, code / "workers" / room)
    shutil.copy(REPOSITORY / "workers/__init__.py", code / "workers")
    (code / FIXES).write_text((code / FIXES).read_text() + WITHOUT_ONE)
    (code / "unfixed").mkdir()
    (code / "unfixed/__init__.py").write_text("import workers\n\nworkers.__path__.insert(0, '/code/workers')\n")
    (code / "unfixed/serve.py").write_text("from workers.candidate.serve import serve\n\n__all__ = ['serve']\n")

    def program(runtime, module, folders):
        if module != "workers.candidate":
            return Program(runtime, module, folders)
        return Program(runtime, "unfixed", {**folders, "/code": code}, code_folder="/code")

    monkeypatch.setattr(foreign, "Program", program)


def judged(bench, dtype, value):
    report = bench.judge(KERNEL.format(value=value), reference=REFERENCE.format(dtype=dtype))
    return report.verdict, "numerics.bf16_not_trusted" in {f.code for f in report.findings}


@pytest.mark.parametrize("value", [NARROW, WIDE])
def test_bf16_is_refused_whether_it_came_out_right_or_wrong(bench, without_the_fix, value):
    assert judged(bench, "bfloat16", value) == (Verdict.INCONCLUSIVE, True)


def test_other_dtypes_are_judged_all_the_same(bench, without_the_fix):
    assert judged(bench, "float", NARROW) == (Verdict.ACCEPTED, False)


def test_with_the_fix_bf16_is_judged(bench):
    assert judged(bench, "bfloat16", NARROW) == (Verdict.ACCEPTED, False)
