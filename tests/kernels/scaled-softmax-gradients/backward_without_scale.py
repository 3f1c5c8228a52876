# expect: wrong_result gradients.missing
import torch


class ScaledSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        y = torch.softmax(x * scale, -1)
        ctx.save_for_backward(x, scale, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, scale, y = ctx.saved_tensors
        inner = y * (grad - (grad * y).sum(-1, keepdim=True))
        return inner * scale, None


solution = ScaledSoftmax.apply
