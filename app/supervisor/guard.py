"""What ends the children when the supervisor was killed and can end nothing any more.

Started as `python -I -S guard.py`, outside every child's process group.  On its standard input
the supervisor writes `+GROUP` when a child starts and `-GROUP` when all of its group has ended.
The end of that input means that the supervisor is gone: what is left gets a moment for the
death signal to work, and is then killed, group by group.  (A worker may be in the middle of a
job that takes an hour, in a process that never hears of its parent's end.)
"""

import contextlib
import os
import signal
import sys
import time

GRACE_SECONDS = 3.0


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends with the supervisor, and never before
    groups: set[int] = set()
    for line in sys.stdin:
        group = int(line[1:])
        groups = groups | {group} if line[0] == "+" else groups - {group}
    if groups:
        time.sleep(GRACE_SECONDS)
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
