"""Loads and calls submitted code inside a sandbox; what it answers are claims, never conclusions."""
