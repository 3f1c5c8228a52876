"""Static rules over submitted source: a hit asks a person, it never rejects by itself."""

from workers.judge.inspection.python_rules import Hit, inspect_python

__all__ = ["Hit", "inspect_python"]
