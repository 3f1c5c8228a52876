# Welford's running mean and variance in 32 lanes, merged by Chan's formula as a warp does.
import torch

LANES = 32


def solution(x, w, b):
    rows, cols = x.shape
    mean, m2 = torch.zeros(rows, LANES), torch.zeros(rows, LANES)
    for n, start in enumerate(range(0, cols, LANES), 1):
        delta = x[:, start : start + LANES] - mean
        mean = mean + delta / n
        m2 = m2 + delta * (x[:, start : start + LANES] - mean)
    count = cols // LANES
    while mean.shape[1] > 1:
        half = mean.shape[1] // 2
        delta = mean[:, half:] - mean[:, :half]
        m2 = m2[:, :half] + m2[:, half:] + delta * delta * (count / 2)
        mean = mean[:, :half] + delta / 2
        count *= 2
    return (x - mean) * torch.rsqrt(m2 / cols + 1e-5) * w + b
