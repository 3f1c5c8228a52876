"""Number formats: what kernels compute must be what a GPU computes."""

# ruff: noqa: C901, N803, PLR0912 - a program for another interpreter

import ml_dtypes
import numpy as np
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda.libdevice import tanh as cuda_tanh

from workers.candidate.frameworks.triton_cpu import builder, selftest
from workers.candidate.frameworks.triton_cpu.language import Language


@triton.jit
def _operation(x, y, out, OP: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    b = tl.load(y + i)
    if OP == "add":
        r = a + b
    elif OP == "mul":
        r = a * b
    elif OP == "div":
        r = (a / b).to(a.dtype)
    elif OP == "neg":
        r = -a
    elif OP == "maximum":
        r = tl.maximum(a, b)
    elif OP == "where":
        r = tl.where(a < b, a, b)
    elif OP == "scale":
        r = a * 2.5
    elif OP == "abs":
        r = tl.abs(a)
    elif OP == "exp":
        r = tl.exp(a.to(tl.float32)).to(a.dtype)
    elif OP == "sum":
        r = tl.zeros((N,), a.dtype) + tl.sum(a, 0)
    elif OP == "max":
        r = (tl.zeros((N,), tl.float32) + tl.max(a, 0)).to(a.dtype)
    elif OP == "cumsum":
        r = tl.cumsum(a, 0)
    elif OP == "sort":
        r = tl.sort(a)
    tl.store(out + i, r)


def _expected(x, y):
    kind = x.dtype
    a, b = x.double(), y.double()
    values = {
        "add": a + b, "mul": a * b, "div": a / b, "neg": -a, "maximum": torch.maximum(a, b),
        "where": torch.where(a < b, a, b), "scale": a * 2.5, "abs": a.abs(), "exp": a.float().exp(),
        "sum": a.sum().expand(len(a)), "max": a.max().expand(len(a)), "cumsum": a.cumsum(0), "sort": a.sort().values,
    }  # fmt: skip
    return {name: value.float().to(kind) for name, value in values.items()}


def _check_operations(kind, ulps_of_sums):
    torch.manual_seed(0)
    x, y = torch.randn(64).to(kind), (torch.randn(64).abs() + 0.5).to(kind)
    for name, want in _expected(x, y).items():
        out = torch.zeros(64, dtype=kind)
        _operation[(1,)](x, y, out, OP=name, N=64)
        loose = ulps_of_sums * torch.finfo(kind).eps if name in ("sum", "cumsum", "exp") else 0
        torch.testing.assert_close(out, want, rtol=loose, atol=loose * 8, msg=lambda m, name=name: f"{name}: {m}")


def check_bf16_operations(framework):
    _check_operations(torch.bfloat16, 1)


def check_fp16_operations(framework):
    _check_operations(torch.float16, 4)


def check_fp32_operations(framework):
    _check_operations(torch.float32, 8)


@triton.jit
def _cast(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(out.dtype.element_ty))


def check_casts_round_to_nearest_even_and_saturate(framework):
    x = torch.tensor([31.48, 1.00390625, 1.01171875, -0.0157, 1e-3, 448.0, 1e5, -1e5])
    limits = {torch.bfloat16: None, torch.float8_e4m3fn: 448, torch.float8_e5m2: 57344, torch.float8_e4m3fnuz: 240}
    for kind, limit in limits.items():
        out = torch.zeros(8, dtype=kind)
        _cast[(1,)](x, out, N=8)
        want = x.clamp(-limit, limit) if limit else x
        assert torch.equal(out.float(), want.to(kind).float()), (kind, out, want)


def check_float_to_integer_saturates(framework):
    out = torch.zeros(4, dtype=torch.int32)
    _cast[(1,)](torch.tensor([3e9, -3e9, float("nan"), -2.7]), out, N=4)
    assert out.tolist() == [2**31 - 1, -(2**31), 0, -2]


@triton.jit
def _dot(x, y, out, PRECISION: tl.constexpr, N: tl.constexpr):
    tile = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + tile, tl.dot(tl.load(x + tile), tl.load(y + tile), input_precision=PRECISION))


def _dot_error(kind, precision):
    torch.manual_seed(1)
    x, y = torch.randn(32, 32).to(kind), torch.randn(32, 32).to(kind)
    out = torch.zeros(32, 32)
    _dot[(1,)](x, y, out, PRECISION=precision, N=32)
    return (out.double() - x.double() @ y.double()).abs().max().item()


def check_dot_precisions(framework):
    assert 1e-4 < _dot_error(torch.float32, None) < 2e-2
    assert _dot_error(torch.float32, "ieee") < 1e-5
    assert _dot_error(torch.float32, "tf32x3") < 1e-5
    for kind in (torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.float8_e5m2):
        assert _dot_error(kind, None) < 1e-4, kind


@triton.jit
def _scaled_dot(x, xs, y, ys, out, N: tl.constexpr, K: tl.constexpr):
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    s = tl.arange(0, K // 32)
    a = tl.load(x + n[:, None] * K + k[None, :])
    b = tl.load(y + k[:, None] * N + n[None, :])
    scale_a = tl.load(xs + n[:, None] * (K // 32) + s[None, :])
    scale_b = tl.load(ys + n[:, None] * (K // 32) + s[None, :])
    tl.store(out + n[:, None] * N + n[None, :], tl.dot_scaled(a, scale_a, "e4m3", b, scale_b, "e4m3"))


def check_scaled_dot(framework):
    torch.manual_seed(2)
    x, y = torch.randn(16, 64).to(torch.float8_e4m3fn), torch.randn(64, 16).to(torch.float8_e4m3fn)
    xs, ys = (torch.randint(125, 130, (16, 2), dtype=torch.uint8) for _ in range(2))
    out = torch.zeros(16, 16)
    _scaled_dot[(1,)](x, xs, y, ys, out, N=16, K=64)
    scale = lambda s: torch.exp2(s.double() - 127).repeat_interleave(32, dim=1)  # noqa: E731
    want = (x.double() * scale(xs)) @ (y.double() * scale(ys).T)
    torch.testing.assert_close(out.double(), want, rtol=1e-5, atol=1e-5)


@triton.jit
def _nan_reduce(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(out, tl.max(v, 0))
    tl.store(out + 1, tl.sum(tl.maximum(v, 0.0), 0))
    tl.store(out + 2, tl.argmax(v, 0, tie_break_left=False).to(tl.float32))


def check_extrema_ignore_nan(framework):
    out = torch.zeros(3)
    _nan_reduce[(1,)](torch.tensor([1.0, float("nan"), 3.0, -2.0]), out, N=4)
    assert out[:2].tolist() == [3.0, 4.0]


@triton.jit
def _library(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.tanh(v) + cuda_tanh(v) + tl.extra.cuda.libdevice.fast_expf(v) + libdevice.erf(v))


def check_library_functions_by_three_ways_of_importing(framework):
    x, out = torch.randn(16), torch.zeros(16)
    _library[(1,)](x, out, N=16)
    torch.testing.assert_close(out, 2 * torch.tanh(x) + torch.exp(x) + torch.erf(x))


def check_library_functions_do_not_count_as_the_submissions_operators(framework):
    from workers.candidate.trace import OperatorTrace

    x, out = torch.randn(16), torch.zeros(16)
    with OperatorTrace() as trace:
        _library[(1,)](x, out, N=16)
    assert trace.work() == {}


@triton.jit
def _pick(a_value, a_index, b_value, b_index):
    take = (b_value > a_value) | ((b_value == a_value) & (b_index < a_index))
    return tl.where(take, b_value, a_value), tl.where(take, b_index, a_index)


@triton.jit
def _running(a, b):
    return a * 0.5 + b


@triton.jit
def _custom(x, out, index, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    _, place = tl.reduce((v, i), 0, _pick)
    tl.store(index, place)
    tl.store(out + i, tl.associative_scan(v, 0, _running))


def check_custom_reduction_and_scan(framework):
    x, out, index = torch.randn(16), torch.zeros(16), torch.zeros(1, dtype=torch.int32)
    _custom[(1,)](x, out, index, N=16)
    state, want = torch.tensor(0.0), []
    for value in x:
        state = state * 0.5 + value
        want.append(state)
    torch.testing.assert_close(out, torch.stack(want))
    assert index.item() == x.argmax().item()


@triton.jit
def _accumulate(x, out, N: tl.constexpr):
    tl.atomic_add(out + tl.zeros((N,), tl.int32), tl.load(x + tl.arange(0, N)))


def check_bf16_atomics_accumulate(framework):
    out = torch.zeros(1, dtype=torch.bfloat16)
    _accumulate[(3,)](torch.full((8,), 0.25, dtype=torch.bfloat16), out, N=8)
    assert out.item() == 6.0


@triton.jit
def _float_argument(x, out, s, N: tl.constexpr):
    i = tl.arange(0, N)
    r = tl.load(x + i) * s
    tl.static_assert(r.dtype == tl.float32)
    tl.store(out + i, r)


def check_float_arguments_are_fp32_scalars(framework):
    x, out = torch.full((4,), 3.0, dtype=torch.float16), torch.zeros(4)
    _float_argument[(1,)](x, out, 0.1, N=4)
    assert np.allclose(out.numpy(), np.float32(3) * np.float32(0.1))


def check_self_test_passes(framework):
    result = framework.interpreter.self_test()
    assert not any(result.values()), result
    assert {"bf16", "fp8", "tf32", "reduce"} <= set(result)


def check_self_test_fails_without_any_one_numerics_fix(framework):
    language = Language()
    for name in ("Bf16Atomics", "TensorCoreDot", "FloatConversions", "NarrowArithmetic", "QuietMinMax"):
        kept = tuple(c for c in builder.CORRECTIONS if c.__name__ != name)
        result = selftest.failing_operations(language, builder.make_builder(kept))
        assert any(result.values()), name
    assert ml_dtypes.bfloat16
