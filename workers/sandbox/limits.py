"""What one sandboxed session may use, and the same as kernel resource limits."""

from __future__ import annotations

from dataclasses import dataclass

KIBIBYTE = 1 << 10
MEBIBYTE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Upper bounds of one session; each is inclusive.

    Attributes:
        memory_mb: MiB; of all processes together where a cgroup can be made, else of the
            address space of each process.
        cpu_seconds: processor seconds of each process; None leaves only the wall limit.
        processes: processes and threads alive at once, the session's own included.
        file_mb: MiB of the longest single file, memfds included.
        tmp_mb: MiB of each of the private folders /tmp, /work and /dev/shm.
        output_kb: KiB of stdout and stderr together; one byte more ends the session.
        open_files: descriptors of each process.
        wall_seconds: seconds from start to the forced end of the whole session.
    """

    memory_mb: int = 8192
    cpu_seconds: int | None = None
    processes: int = 64
    file_mb: int = 64
    tmp_mb: int = 256
    output_kb: int = 1024
    open_files: int = 512
    wall_seconds: float = 600.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be above 0, not {value}")


def resource_limits(limits: Limits, *, address_space: bool, processes: bool) -> dict[str, list[int]]:
    """The `resource.setrlimit` pairs (soft, hard) that the child sets on itself before foreign code.

    `address_space` is off where a cgroup counts real memory, as a GPU context or a sanitizer
    reserves far more addresses than it uses.
    """
    pairs = {
        # Not 0: then a host whose core pattern is a pipe still starts its helper, as root, on the dump.  At 1 the
        # kernel starts none, and a file of one byte is too small for it to begin.
        "RLIMIT_CORE": [1, 1],
        "RLIMIT_FSIZE": [limits.file_mb * MEBIBYTE] * 2,
        "RLIMIT_NOFILE": [limits.open_files] * 2,
    }
    if address_space:
        pairs["RLIMIT_AS"] = [limits.memory_mb * MEBIBYTE] * 2
    if processes:
        pairs["RLIMIT_NPROC"] = [limits.processes] * 2
    if limits.cpu_seconds is not None:
        # SIGXCPU at the soft limit tells this end apart from any other; SIGKILL follows a second later.
        pairs["RLIMIT_CPU"] = [limits.cpu_seconds, limits.cpu_seconds + 1]
    return pairs
