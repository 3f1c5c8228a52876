import numpy as np


def make_inputs(*, seed, n):
    return (np.random.default_rng(seed).standard_normal(n).astype(np.float32),)


def reference(x):
    return x[1:] - x[:-1]
