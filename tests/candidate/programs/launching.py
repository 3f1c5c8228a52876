"""Launches: unmodified programs run, and what they launched is recorded."""

# ruff: noqa: BLE001, N803, PIE808, PLW2901, PT017 - a program for another interpreter

import torch
import triton
import triton.language as tl

from workers.candidate.frameworks.triton_cpu import TooSlow, Unsupported


@triton.jit
def _scaled(v, FACTOR: tl.constexpr):
    return v * FACTOR


@triton.autotune(configs=[triton.Config({"B": 64}, num_warps=2), triton.Config({"B": 128}, num_warps=8)], key=["n"])
@triton.heuristics({"EVEN": lambda a: a["n"] % a["B"] == 0})
@triton.jit
def _tuned(x, out, n, B: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(out + i, _scaled(tl.load(x + i, mask=mask), 3), mask=mask)


def check_autotune_heuristics_and_nested_kernels(framework):
    x, out = torch.randn(1000), torch.zeros(1000)
    grid = lambda meta: (triton.cdiv(1000, meta["B"]),)  # noqa: E731
    _tuned[grid](x, out, 1000)
    assert torch.equal(out, x * 3)
    launches = framework.interpreter.launches
    assert {(launch.constexprs["B"], launch.num_warps) for launch in launches} == {("64", 2), ("128", 8)}
    assert launches[-1].grid == (16, 1, 1) and not launches[-1].skipped and launches[-1].constexprs["EVEN"] == "False"
    assert launches[-1].signature["n"] == "i32" and "divisibility" in launches[-1].attributes["x"]
    framework.interpreter.reset()
    _tuned[grid](x, out, 1000)
    assert len(framework.interpreter.launches) == 1


def _tuned_in_place(**options):
    @triton.autotune(configs=[triton.Config({"B": b}) for b in (64, 128)], key=["n"], **options)
    @triton.jit
    def halve(x, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(x + i, tl.load(x + i, mask=i < n) * 0.5, mask=i < n)

    x = torch.ones(256)
    halve[lambda meta: (triton.cdiv(256, meta["B"]),)](x, 256)
    return x[0].item()


def check_tuning_an_in_place_kernel_spoils_the_first_call(framework):
    assert _tuned_in_place() == 0.25
    assert _tuned_in_place(restore_value=["x"]) == 0.5


def check_static_assert_rules_out_a_configuration(framework):
    @triton.autotune(configs=[triton.Config({"B": b}) for b in (64, 128)], key=["n"])
    @triton.jit
    def wide_only(x, n, B: tl.constexpr):
        tl.static_assert(B >= 128)
        tl.store(x + tl.arange(0, B), 1.0)

    x = torch.zeros(128)
    wide_only[(1,)](x, 128)
    assert x.sum() == 128 and framework.interpreter.launches[-1].constexprs["B"] == "128"


@triton.jit
def _fill(x, N: tl.constexpr):
    tl.store(x + tl.program_id(0) * N + tl.arange(0, N), 1.0)


def check_empty_grid_launches_nothing(framework):
    x = torch.zeros(16)
    _fill[(0,)](x, N=16)
    assert x.sum() == 0 and framework.interpreter.launches[0].programs == 0


def check_grid_limits_are_those_of_a_device(framework):
    try:
        _fill[(1, 70000)](torch.zeros(16), N=16)
    except RuntimeError as error:
        assert "invalid argument" in str(error)
    else:
        raise AssertionError("a grid of 70000 in y was accepted")


def check_skipped_launches_do_nothing(framework):
    framework.interpreter.skip_launches = True
    x = torch.zeros(16)
    _fill[(1,)](x, N=16)
    assert x.sum() == 0 and framework.interpreter.launches[0].skipped


def check_warmup_and_occupancy_code(framework):
    x = torch.zeros(16)
    compiled = _fill.warmup(torch.float32, N=16, grid=(1,))
    compiled._init_handles()
    properties = triton.runtime.driver.active.utils.get_device_properties(0)
    assert properties["max_num_regs"] // (compiled.n_regs * properties["warpSize"]) > 0
    assert properties["max_shared_mem"] // compiled.metadata.shared > 0
    compiled[(1, 1, 1)](x, 16)
    assert x.sum() == 16


def check_do_bench_runs(framework):
    x = torch.zeros(16)
    assert triton.testing.do_bench(lambda: _fill[(1,)](x, N=16)) > 0
    assert len(triton.testing.do_bench(lambda: _fill[(1,)](x, N=16), quantiles=[0.5, 0.2, 0.8])) == 3


@triton.jit
def _grammar(x, out, flag, nothing, n, N: tl.constexpr):
    i = tl.arange(0, N)
    total = 0.0
    for k in range(0, n):
        total += tl.load(x + k.to(tl.int64))
    if flag and not (n < 0):
        total = max(total, 1.0) * 2
    if nothing is None:
        total += 1
    j = 0
    while j < 3:
        j += 1
    for s in tl.static_range(2):
        total += s
    pair = (total, j)
    tl.store(out + i, tl.where((i >= 0) and (i < 2), pair[0] + pair[1], i.to(tl.float32).sum(0)))


def check_python_means_what_it_means_to_the_compiler(framework):
    x, out = torch.ones(8), torch.zeros(4)
    _grammar[(1,)](x, out, True, None, 5, N=4)
    assert out.tolist() == [15.0, 15.0, 6.0, 6.0]


def check_kernels_made_in_a_closure(framework):
    def make(factor):
        factor = tl.constexpr(factor)

        @triton.jit
        def scale(x, N: tl.constexpr):
            tl.store(x + tl.arange(0, N), tl.load(x + tl.arange(0, N)) * factor)

        return scale

    x = torch.ones(4)
    make(3)[(1,)](x, N=4)
    make(5)[(1,)](x, N=4)
    assert x.tolist() == [15.0] * 4


def check_nothing_is_added_to_the_module(framework):
    _fill[(1,)](torch.zeros(16), N=16)
    assert "interpreter_semantic" not in globals() and "np" not in globals()


def _raised(launch):
    try:
        launch()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def check_front_end_errors_are_compilation_errors_with_a_line(framework):
    error = _raised(lambda: _fill[(1,)](torch.zeros(100), N=100))
    assert isinstance(error, triton.CompilationError) and "power of 2" in str(error)
    (seen,) = framework.interpreter.observations
    assert seen.code == "compile.error" and seen.file == __file__


def check_condition_on_a_whole_tensor_is_refused(framework):
    @triton.jit
    def branches(x, N: tl.constexpr):
        if tl.load(x + tl.arange(0, N)) > 0:
            tl.store(x, 1.0)

    assert "ambiguous" in str(_raised(lambda: branches[(1,)](torch.ones(4), N=4)))


def check_unknown_option_is_refused_as_on_a_device(framework):
    assert isinstance(_raised(lambda: _fill[(1,)](torch.zeros(16), N=16, blocks=3)), KeyError)


def check_device_assert_raises(framework):
    @triton.jit
    def asserts(x):
        tl.device_assert(tl.load(x) > 0, "must be positive")

    assert "must be positive" in str(_raised(lambda: asserts[(1,)](torch.zeros(1))))


def check_inline_assembly_is_unsupported(framework):
    @triton.jit
    def assembly(x):
        v = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.load(x)], tl.float32, is_pure=True, pack=1)
        tl.store(x, v)

    error = _raised(lambda: assembly[(1,)](torch.zeros(1)))
    assert isinstance(error, Unsupported) and error.location["file"] == __file__
    assert framework.after_call()["stopped"]["kind"] == "unsupported"


def check_slow_launches_are_given_up_early(framework):
    @triton.jit
    def long(x):
        for k in range(30):
            tl.store(x + k, tl.load(x + k) + 1)

    framework.interpreter.budget_seconds = 1.0
    error = _raised(lambda: long[(1000000,)](torch.zeros(32)))
    assert isinstance(error, TooSlow) and error.estimate_seconds > 100 and error.kernel == "long"
    assert framework.interpreter.launches[0].seconds < 2.0


def check_compiling_still_works_after_interpreting(framework):
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    x = torch.zeros(16)
    _fill[(1,)](x, N=16)
    special = framework.interpreter.launches[0].specialisation
    source = ASTSource(special.function, special.signature, special.constexprs, special.attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32), options=special.options.__dict__)
    assert "tt.store" in compiled.asm["ttir"]


@triton.jit
def _attention(q, k, v, out, scale, length, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    start = tl.program_id(0) * M
    base = tl.program_id(1).to(tl.int64) * length * D
    keys = tl.make_block_ptr(k + base, (D, length), (1, D), (0, 0), (D, N), (0, 1))
    values = tl.make_block_ptr(v + base, (length, D), (D, 1), (0, 0), (N, D), (1, 0))
    rows = start + tl.arange(0, M)
    tile = rows[:, None] * D + tl.arange(0, D)[None, :]
    queries = tl.load(q + base + tile)
    largest = tl.zeros([M], tl.float32) - float("inf")
    total = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, D], tl.float32)
    for first in range(0, start + M, N):
        first = tl.multiple_of(first, N)
        scores = tl.dot(queries, tl.load(keys)) * scale
        scores = tl.where(rows[:, None] >= first + tl.arange(0, N)[None, :], scores, float("-inf"))
        new = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp(scores - new[:, None])
        shrink = tl.exp(largest - new)
        total = total * shrink + tl.sum(weights, 1)
        block = tl.load(values)
        acc = tl.dot(weights.to(block.dtype), block, acc * shrink[:, None])
        largest = new
        keys = tl.advance(keys, (0, N))
        values = tl.advance(values, (N, 0))
    tl.store(out + base + tile, (acc / total[:, None]).to(out.type.element_ty))


def check_causal_attention_in_bf16(framework):
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 64, 32).bfloat16() for _ in range(3))
    out = torch.empty_like(q)
    _attention[(2, 2)](q, k, v, out, 32**-0.5, 64, D=32, M=32, N=16, num_warps=4, num_stages=2)
    want = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True)
    torch.testing.assert_close(out.float(), want, rtol=2e-2, atol=2e-2)
    assert not framework.interpreter.observations
