"""Runs a task's own code (inputs, reference, oracle, check) inside a sandbox of its own."""
