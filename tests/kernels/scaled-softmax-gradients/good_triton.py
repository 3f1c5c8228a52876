# expect: accepted gradients.memory
import torch
import triton
import triton.language as tl


@triton.jit
def forward_kernel(x_ptr, scale_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < cols
    z = tl.load(x_ptr + row * cols + at, inside, 0.0) * tl.load(scale_ptr + at, inside, 0.0)
    z = tl.where(inside, z, float("-inf"))
    e = tl.exp(z - tl.max(z, 0))
    tl.store(y_ptr + row * cols + at, e / tl.sum(e, 0), inside)


@triton.jit
def backward_kernel(grad_ptr, y_ptr, scale_ptr, inner_ptr, dx_ptr, cols, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < cols
    grad, y = tl.load(grad_ptr + row * cols + at, inside, 0.0), tl.load(y_ptr + row * cols + at, inside, 0.0)
    inner = y * (grad - tl.sum(grad * y, 0))
    tl.store(inner_ptr + row * cols + at, inner, inside)
    tl.store(dx_ptr + row * cols + at, inner * tl.load(scale_ptr + at, inside, 0.0), inside)


class ScaledSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        y = torch.empty_like(x)
        forward_kernel[(x.shape[0],)](x, scale, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        ctx.save_for_backward(x, scale, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, scale, y = ctx.saved_tensors
        grad, inner, dx = grad.contiguous(), torch.empty_like(x), torch.empty_like(x)
        block = triton.next_power_of_2(x.shape[1])
        backward_kernel[(x.shape[0],)](grad, y, scale, inner, dx, x.shape[1], BLOCK=block)
        return dx, (inner * x).sum(0)


def solution(x, scale):
    return ScaledSoftmax.apply(x, scale)
