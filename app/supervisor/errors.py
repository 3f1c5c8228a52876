"""Why `workbench serve` ends, as one sentence that a person can act on, with an exit status."""

from __future__ import annotations


class ServeError(Exception):
    """Printed without a traceback; `status` becomes the exit status."""

    status = 1


class AddressInUse(ServeError):
    """Somebody else listens there, or another `serve` uses the same data folder."""

    status = 2


class NothingToRunKernelsWith(ServeError):
    """A named runtime is missing, or none is installed."""

    status = 2


class ChildFailed(ServeError):
    """A child could not start, or died again and again."""

    status = 3
