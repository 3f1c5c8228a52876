"""Runs first in every child: ties its life to the supervisor's, then becomes the program asked for.

Started as `python -I -S shim.py PARENT_PID SIGNAL PROGRAM ARGUMENT...`.  It is a program of its
own because the alternative, `preexec_fn`, runs Python between fork and exec of a process that
has threads.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    parent, death_signal, *command = sys.argv[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != int(parent):  # it died before the line above took hold
            sys.exit(1)
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is meant
    except OSError as error:
        sys.exit(f"{command[0]} cannot be started: {error.strerror}")


if __name__ == "__main__":
    main()
