# expect: accepted !integrity.forged_result
"""Says what it does, modestly."""
import logging
import sys

import torch

log = logging.getLogger("norm")


def solution(x, w, b):
    log.warning("rows %d", x.shape[0])
    print("layer norm of", tuple(x.shape), file=sys.stderr)
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b)
