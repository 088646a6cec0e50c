"""The program ``hodgerank``, which ``pip install`` brings along; also ``python -m hodgerank``."""

from __future__ import annotations

import signal
import sys

from . import _core


def main() -> int:
    """Runs the program with the arguments of the command line and returns its exit code."""
    # The program handles Ctrl-C itself. A signal that was ignored before the start stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.run_program(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
