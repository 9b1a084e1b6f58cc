"""python -m portal.stack.wait_then_exec COMMAND…: waits for SIGTERM, and then executes the command.

For things that outlive the program that set them up, such as the lab's namespaces: under a supervisor, this takes them down at its
place in the stopping order, and also when the supervisor was killed.
"""

import os
import signal
import sys

if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    print("Waiting for SIGTERM", flush=True)
    signal.sigwait({signal.SIGTERM})
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 — a command of commands.py
