"""A foreign program that does what a test tells it."""
