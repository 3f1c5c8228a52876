# expect: suspect wrong_result wrong_dtype wrong_shape runtime_error
"""An object that is no tensor and becomes one when somebody converts it."""
import torch


class Later:
    def __init__(self, f):
        self.f = f

    def __array__(self, *_, **__):
        return self.f().numpy()

    def __torch_function__(self, *a, **k):
        return self.f()


def solution(x, w, b):
    return Later(lambda: torch.nn.functional.layer_norm(x, x.shape[-1:], w, b))
