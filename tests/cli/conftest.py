"""The zoo's engine, which also says whether there is a sandbox and a runtime at all."""

from tests.kernels.conftest import engine

__all__ = ["engine"]
