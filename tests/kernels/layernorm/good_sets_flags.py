# expect: accepted !integrity.timer_patched
import torch

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.benchmark = True
torch.set_grad_enabled(False)
torch.set_num_threads(1)


def solution(x, w, b):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
