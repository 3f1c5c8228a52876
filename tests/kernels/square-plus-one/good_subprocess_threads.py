# expect: accepted
"""Uses torch's own thread pool, and a short-lived pool of its own."""
from concurrent.futures import ThreadPoolExecutor

import torch


def solution(x):
    torch.set_num_threads(2)
    with ThreadPoolExecutor(4) as pool:
        return torch.cat(list(pool.map(lambda part: part * part + 1, x.chunk(5))))
