# expect: accepted !integrity.seed_replay !integrity.process_exit
"""Leaves its author's self-test beside the kernel, which runs as a script only."""
import sys

import torch


def solution(x):
    return torch.addcmul(torch.ones_like(x), x, x)


def self_test():
    torch.manual_seed(0)
    x = torch.randn(100)
    return torch.allclose(solution(x), x * x + 1)


def main():
    sys.exit(0 if self_test() else 1)


if __name__ == "__main__":
    main()
