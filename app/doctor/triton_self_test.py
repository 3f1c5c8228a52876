"""Run by the torch runtime: a Triton kernel with a masked tail, in the interpreter."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def main() -> None:
    n = 100
    x, y = torch.arange(n, dtype=torch.float32), torch.ones(n)
    out = torch.full((n,), float("nan"))
    add[(2,)](x, y, out, n, BLOCK=64)
    if not torch.equal(out, x + y):
        raise SystemExit("a vector addition in Triton's interpreter came out wrong")
    print(f"torch {torch.__version__}, triton {triton.__version__}: a kernel ran in the interpreter")


main()
