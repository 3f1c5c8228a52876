# expect: suspect integrity.lazy_output
import torch


class Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        args = [a.compute() if isinstance(a, Later) and hasattr(a, "compute") else a for a in args]
        return super().__torch_function__(func, types, args, kwargs or {})


def solution(x, w, b):
    y = torch.empty_like(x).as_subclass(Later)
    y.compute = lambda: torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
    return y
