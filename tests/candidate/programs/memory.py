"""Memory: bad addresses are named and never touched, honest ones are left in peace."""

# ruff: noqa: N803 - a program for another interpreter

import numpy as np
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def _codes(framework):
    return [o.code for o in framework.interpreter.observations]


def _line_of(framework, code):
    found = next(o for o in framework.interpreter.observations if o.code == code)
    with open(found.file) as source:
        return source.readlines()[found.line - 1]


@triton.jit
def _double(x, out, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, v * 2)


def check_reading_past_the_storage(framework):
    _double[(8,)](torch.randn(1000), torch.empty(1024), N=128)
    (seen,) = framework.interpreter.observations
    assert seen.code == "runtime.out_of_bounds" and "tl.load(x + i)" in _line_of(framework, seen.code)
    assert seen.evidence["argument"] == "x" and seen.evidence["byte_offset"] == 4000
    assert seen.evidence["lanes"] == 24 and seen.evidence["program"] == [7, 0, 0]


def check_writing_far_outside_does_not_crash(framework):
    @triton.jit
    def wild(out):
        tl.store(out + (tl.program_id(0).to(tl.int64) - 1) * 1000000000000, 1.0)

    wild[(2,)](torch.zeros(4))
    (seen,) = framework.interpreter.observations
    assert seen.code == "runtime.out_of_bounds" and seen.evidence["access"] == "store"


def check_view_overrun_is_told_apart(framework):
    buffer = torch.arange(2000.0)
    out = torch.empty(1024)
    _double[(8,)](buffer[:1000], out, N=128)
    assert _codes(framework) == ["runtime.reads_past_view"]
    assert out[1010].item() == 2020.0
    framework.interpreter.reset()
    _double[(8,)](torch.randn(1024), buffer[:1000], N=128)
    assert _codes(framework) == ["runtime.reads_past_view"]


def check_strided_views_are_reached_in_full(framework):
    base = torch.randn(16, 64)

    @triton.jit
    def column(x, out, stride):
        r = tl.program_id(0)
        tl.store(out + r, tl.load(x + r * stride))

    out = torch.empty(16)
    column[(16,)](base[:, 5], out, base.stride(0))
    assert torch.equal(out, base[:, 5]) and not _codes(framework)


def check_neighbouring_tensors_do_not_hide_an_overrun(framework):
    pool = np.zeros(64, dtype=np.float32)
    x, out = torch.from_numpy(pool[:16].copy()), torch.zeros(128)
    _double[(1,)](x, out, N=32)
    assert _codes(framework) == ["runtime.out_of_bounds"]


@triton.jit
def _first_column(x, out, stride):
    r = tl.program_id(0)
    offset = r * stride
    tl.store(out + r, tl.load(x + offset))


@triton.jit
def _first_column_wide(x, out, stride):
    r = tl.program_id(0)
    tl.store(out + r, tl.load(x + r.to(tl.int64) * stride))


def _mostly_holes():
    width = 2**30 + 8
    x = torch.empty_strided((3, width), (width, 1), dtype=torch.int8)
    for row in range(3):
        x[row, 0] = row + 1
    return x


def check_index_overflow_names_the_wrapping_line(framework):
    x = _mostly_holes()
    _first_column[(3,)](x, torch.empty(3, dtype=torch.int8), x.stride(0))
    (seen,) = framework.interpreter.observations
    assert seen.code == "runtime.index_overflow" and "offset = r * stride" in _line_of(framework, seen.code)
    assert seen.evidence["exact_value"] == 2**31 + 16


def check_64_bit_offsets_are_honest(framework):
    x, out = _mostly_holes(), torch.empty(3, dtype=torch.int8)
    _first_column_wide[(3,)](x, out, x.stride(0))
    assert out.tolist() == [1, 2, 3] and not _codes(framework)


def check_hashes_may_wrap(framework):
    @triton.jit
    def hashed(table, out, seed, N: tl.constexpr):
        i = tl.program_id(0) * N + tl.arange(0, N)
        h = (i * 1103515245 + 12345) & 63
        tl.store(out + i, tl.load(table + h) + tl.rand(seed, i) * 0)

    hashed[(4,)](torch.randn(64), torch.empty(256), 7, N=64)
    assert not _codes(framework)


def check_block_pointers_with_a_wrong_shape(framework):
    @triton.jit
    def rows(x, out, M, C, B: tl.constexpr):
        p = tl.make_block_ptr(x, (M + 8, C), (C, 1), (tl.program_id(0) * B, 0), (B, B), (1, 0))
        q = tl.make_block_ptr(out, (M, C), (C, 1), (tl.program_id(0) * B, 0), (B, B), (1, 0))
        tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))

    rows[(4,)](torch.randn(100, 32), torch.zeros(100, 32), 100, 32, B=32)
    assert _codes(framework) == ["runtime.out_of_bounds"]


def check_tensor_descriptors(framework):
    @triton.jit
    def copy(source, target, B: tl.constexpr):
        at = [tl.program_id(0) * B, 0]
        target.store(at, source.load(at))

    x, out = torch.randn(100, 32), torch.zeros(100, 32)
    copy[(4,)](TensorDescriptor.from_tensor(x, [32, 32]), TensorDescriptor.from_tensor(out, [32, 32]), B=32)
    assert torch.equal(x, out) and not _codes(framework)


def check_tables_of_addresses(framework):
    @triton.jit
    def gather(table, out, N: tl.constexpr):
        p = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
        tl.store(out + tl.program_id(0) * N + tl.arange(0, N), tl.load(p + tl.arange(0, N)))

    rows = [torch.randn(8) for _ in range(3)]
    out = torch.zeros(3, 8)
    gather[(3,)](torch.tensor([r.data_ptr() for r in rows], dtype=torch.int64), out, N=8)
    assert torch.equal(out, torch.stack(rows)) and not _codes(framework)


@triton.jit
def _sum_racing(x, out, N: tl.constexpr):
    s = tl.sum(tl.load(x + tl.program_id(0) * N + tl.arange(0, N)), 0)
    tl.store(out, tl.load(out) + s)


@triton.jit
def _sum_atomic(x, out, N: tl.constexpr):
    tl.atomic_add(out, tl.sum(tl.load(x + tl.program_id(0) * N + tl.arange(0, N)), 0))


def check_races_are_found_and_atomics_are_not(framework):
    framework.interpreter.detect_races = True
    _sum_racing[(4,)](torch.ones(64), torch.zeros(1), N=16)
    assert set(_codes(framework)) == {"runtime.race"}
    framework.interpreter.reset()
    _sum_atomic[(4,)](torch.ones(64), torch.zeros(1), N=16)
    x = torch.ones(64)
    _double[(4,)](x, x, N=16)
    assert not _codes(framework)


def check_overlapping_tiles_with_equal_values_are_harmless(framework):
    @triton.jit
    def shifted(x, out, n, N: tl.constexpr):
        start = tl.minimum(tl.program_id(0) * N, n - N)
        i = start + tl.arange(0, N)
        tl.store(out + i, tl.load(x + i) * 2)

    framework.interpreter.detect_races = True
    shifted[(7,)](torch.randn(100), torch.zeros(100), 100, N=16)
    assert not _codes(framework)


def check_traffic_counts_active_lanes(framework):
    _double[(4,)](torch.ones(64), torch.empty(64), N=16)
    (launch,) = framework.interpreter.launches
    assert (launch.bytes_read, launch.bytes_written) == (256, 256)
