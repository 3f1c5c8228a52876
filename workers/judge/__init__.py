"""The trusted third party: compares, attacks and decides with NumPy; runs no foreign code at all."""
