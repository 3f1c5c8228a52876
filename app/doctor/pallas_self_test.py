"""Run by the jax runtime: a Pallas kernel in interpret mode."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def add(x, y, out):
    out[...] = x[...] + y[...]


def main() -> None:
    x = jnp.arange(100, dtype=jnp.float32)
    out = pl.pallas_call(add, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(x, x)
    if not (out == 2 * x).all():
        raise SystemExit("a vector addition in Pallas' interpret mode came out wrong")
    print(f"jax {jax.__version__}: a Pallas kernel ran in interpret mode")


main()
