"""Run by the torch runtime's interpreter: the same answers as tensors, in formats that NumPy lacks too."""

import torch

from workbench_checks import arg_extreme, drawn_from, dropped_out, follows, normal, same_up_to_phase, svd, top_k

torch.manual_seed(0)
for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64):
    x = (torch.rand(50, 400) + 0.5).to(dtype)
    assert top_k(x, *x.topk(7)), dtype
    assert top_k(x, x.topk(7).values, x.topk(7).indices.roll(1, 1)).message.startswith("the element at index [0, 0]")
    assert arg_extreme(x, x.argmax(-1)), dtype
    assert dropped_out(torch.nn.functional.dropout(x, 0.25), x, 0.25), dtype
    assert not dropped_out(x, x, 0.25), dtype
    assert follows(torch.randn(400_000).to(dtype), normal()), dtype
    assert not follows(torch.randn(400_000).to(dtype) * 1.05, normal()), dtype

weights = torch.rand(3, 20).to(torch.bfloat16)
assert drawn_from(torch.multinomial(weights.double(), 2000, replacement=True), weights)
x = torch.rand(9, 5, requires_grad=True)
assert svd(x, *torch.linalg.svd(x, full_matrices=False))
assert same_up_to_phase(torch.eye(3, dtype=torch.complex64) * 1j, torch.eye(3, dtype=torch.complex64))
eight = torch.randint(0, 3, (4, 30)).to(torch.float8_e4m3fn)
assert top_k(eight, None, eight.float().topk(3).indices)
