"""python -m portal.stack.wait_then_exec COMMAND…: waits for SIGTERM, and becomes the command.

For what outlives the program that set it up, such as the lab's namespaces: started under a supervisor, this takes it down
in its place of the order of stopping, and also when the supervisor was killed.
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
