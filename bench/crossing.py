"""One GiB into a memfd: packing a tensor against NumPy copying it, interleaved in one process.

Run by the torch runtime: `python bench/crossing.py`; prints one JSON object with medians and their ratio.
"""

import json
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch

from workers.wire import storage
from workers.wire.tensors import pack

NBYTES = 1 << 30
ROUNDS = 5


def packing(tensor):
    start = time.perf_counter()
    _, fds = pack((tensor,), trim=False)
    seconds = time.perf_counter() - start
    storage.close_all(fds)
    return seconds


def copying(array):
    start = time.perf_counter()
    fd = storage.create(array.nbytes)
    mapped = storage.map_shared(fd, array.nbytes)
    np.copyto(np.frombuffer(mapped, array.dtype), array)
    seconds = time.perf_counter() - start
    os.close(fd)
    return seconds


tensor = torch.ones(NBYTES // 4)
packing(tensor), copying(tensor.numpy())
pairs = [(packing(tensor), copying(tensor.numpy())) for _ in range(ROUNDS)]
pack_s, copy_s = (statistics.median(side) for side in zip(*pairs, strict=True))
print(json.dumps({"pack_seconds": pack_s, "numpy_seconds": copy_s, "speed_ratio": copy_s / pack_s}))
