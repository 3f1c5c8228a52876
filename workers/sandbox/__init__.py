"""Starts a foreign process, limits it, speaks to it, kills it."""

from workers.sandbox.errors import Ended, SandboxUnavailable
from workers.sandbox.limits import Limits
from workers.sandbox.program import Program, Runtime
from workers.sandbox.sandboxes import Sandboxes
from workers.sandbox.session import Reply, Session
from workers.sandbox.warm import ForkServer

__all__ = [
    "Ended",
    "ForkServer",
    "Limits",
    "Program",
    "Reply",
    "Runtime",
    "SandboxUnavailable",
    "Sandboxes",
    "Session",
]
