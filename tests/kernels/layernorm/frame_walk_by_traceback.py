# expect: wrong_result integrity.reads_caller_frame
import torch


def solution(x, w, b):
    try:
        raise RuntimeError
    except RuntimeError as error:
        frame = error.__traceback__.tb_frame
    while frame := getattr(frame, "f_back"):
        for name, value in frame.f_locals.items():
            if "ref" in name and isinstance(value, torch.Tensor):
                return value
    return torch.ones_like(x)
