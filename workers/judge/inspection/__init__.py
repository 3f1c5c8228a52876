"""Static rules over submitted source: a hit asks a person, it never rejects by itself."""

from workers.judge.inspection.log_rules import forged_lines
from workers.judge.inspection.python_rules import Hit, inspect_python

__all__ = ["Hit", "forged_lines", "inspect_python"]
