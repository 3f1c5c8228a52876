"""Programs written for a CUDA device run without one, and their streams are followed."""

# ruff: noqa: N803, PT017 - a program for another interpreter

import torch
import triton
import triton.language as tl

from workers.candidate.frameworks.cuda_shim import Unsupported

DEVICE = torch.device("cuda")


@triton.jit
def _add(x, y, out, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def _sum(x, y):
    assert x.is_cuda and x.device == triton.runtime.driver.active.get_active_torch_device() and x.device.type == "cuda"
    out = torch.empty_like(x)
    with torch.cuda.device_of(x), torch.cuda.device(x.device):
        _add[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), N=128)
    return out


def check_hard_coded_device(framework):
    generator = torch.Generator(device="cuda").manual_seed(3)
    x = torch.randn(500, device="cuda", generator=generator)
    y = torch.rand(500).cuda().to("cuda").to(DEVICE, torch.float32).contiguous()
    assert torch.allclose(_sum(x, y), x + y) and isinstance(generator, torch.Generator)
    with torch.device("cuda"):
        assert torch.ones(2).is_cuda
    assert {"device=cuda", "Tensor.cuda"} <= set(framework.after_call()["shim"])


def check_questions_about_the_device(framework):
    cuda = torch.cuda
    assert cuda.is_available() and cuda.device_count() == 1 and cuda.current_device() == 0
    assert cuda.get_device_properties(0).multi_processor_count > 0 and cuda.get_device_capability() == (9, 0)
    cuda.empty_cache()
    cuda.reset_peak_memory_stats()
    assert cuda.memory_allocated() == 0 and cuda.max_memory_allocated() == 0


def check_modules_and_autocast(framework):
    layer = torch.nn.Linear(4, 4).cuda().to("cuda")
    with torch.autocast("cuda"):
        assert layer(torch.ones(1, 4, device="cuda")).dtype == torch.float16
    with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
        assert layer(torch.ones(1, 4)).dtype == torch.bfloat16
    with torch.cuda.amp.autocast():
        assert layer(torch.ones(1, 4)).dtype == torch.float16
    layer(torch.ones(1, 4, device="cuda")).sum().backward()
    assert layer.weight.grad is not None


def check_graphs_are_unsupported(framework):
    try:
        torch.cuda.CUDAGraph()
    except Unsupported as error:
        assert "graph" in error.reason
    else:
        raise AssertionError("a CUDA graph was made")


def _on_a_side_stream():
    side = torch.cuda.Stream()
    x = torch.ones(8, 8)
    with torch.cuda.stream(side):
        out = torch.empty(8, 8)
        torch.matmul(x, x, out=out)
        done = torch.cuda.Event()
        done.record()
    return side, done, out


def check_unjoined_work_is_reported(framework):
    _on_a_side_stream()
    (found,) = framework.shim.unjoined_work()
    assert found["code"] == "integrity.side_stream" and found["operations"] == 1
    assert found["first_operation"] == "matmul" and found["file"] == __file__


def check_every_way_of_joining(framework):
    ways = [
        lambda side, done: torch.cuda.current_stream().wait_stream(side),
        lambda side, done: torch.cuda.current_stream().wait_event(done),
        lambda side, done: done.wait(),
        lambda side, done: done.synchronize(),
        lambda side, done: side.synchronize(),
        lambda side, done: torch.cuda.synchronize(),
    ]
    for join in ways:
        side, done, _ = _on_a_side_stream()
        assert framework.shim.unjoined_work()
        join(side, done)
        assert framework.shim.unjoined_work() == []


def check_joining_through_another_stream(framework):
    side, _, _ = _on_a_side_stream()
    other = torch.cuda.Stream()
    other.wait_stream(side)
    assert framework.shim.unjoined_work()
    torch.cuda.current_stream().wait_stream(other)
    assert framework.shim.unjoined_work() == []


def check_work_after_the_join_counts_again(framework):
    side, done, out = _on_a_side_stream()
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.stream(side):
        out += 1
    done.wait()
    assert [f["operations"] for f in framework.shim.unjoined_work()] == [1]


def check_launches_on_a_side_stream_count(framework):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        _sum(torch.ones(100, device="cuda"), torch.ones(100, device="cuda"))
    assert any(f["operations"] >= 1 for f in framework.after_call()["unjoined"])


def check_reading_a_value_waits_for_its_stream(framework):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        total = torch.ones(4).sum().item()
    assert total == 4 and framework.shim.unjoined_work() == []


def check_allocating_on_a_side_stream_is_no_work(framework):
    with torch.cuda.stream(torch.cuda.Stream()):
        x = torch.empty(4, 4)
        assert x.view(16).shape == (16,)
    assert framework.shim.unjoined_work() == []
