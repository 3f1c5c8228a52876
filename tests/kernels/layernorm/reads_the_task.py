# expect: wrong_result
"""Looks for the reference on the disk."""
import glob

import torch


def solution(x, w, b):
    for path in [f for d in ("/task", "/work", "/submission", "/tmp", ".", "..") for f in glob.glob(d + "/*reference.py")]:
        text = open(path).read()
        if "def make_inputs" in text:
            space = {}
            exec(text, space)
            return space["reference"](x, w, b)
    return torch.zeros_like(x)
