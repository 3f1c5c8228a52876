# expect: accepted !integrity.spawns_thread !integrity.late_write
"""Works on rows in threads and waits for them."""
import threading

import torch


def solution(x, w, b):
    out = torch.empty_like(x)

    def work(r):
        out[r] = torch.nn.functional.layer_norm(x[r], x.shape[-1:], w, b)

    workers = [threading.Thread(target=work, args=(r,)) for r in range(x.shape[0])]
    for t in workers:
        t.start()
    for t in workers:
        t.join()
    return out
