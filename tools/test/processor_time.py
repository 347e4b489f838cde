"""Runs a command and writes the processor time of the command and all its descendants, in seconds, to file descriptor 3.

Linux only counts descendants that somebody waited for. This program adopts processes whose parent ended (Chromium's renderers, for
example) and waits for them, so their time is counted too.
"""

import ctypes
import os
import resource
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>
REPORT = 3
# In seconds. Orphans that outlive the command for longer are not waited for, and not counted.
PATIENCE = 5


def wait_for(child):
    """Reaps every process that ends until `child` does; returns its exit status."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def reap_orphans():
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            time.sleep(0.02)


def main():
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.set_inheritable(REPORT, False)
    child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
    # Ctrl-C reaches the command without help; SIGTERM must be forwarded. Unlike SIG_IGN, handlers are not inherited.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda number, _: os.kill(child, number))
    status = wait_for(child)
    reap_orphans()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.write(REPORT, f'{usage.ru_utime + usage.ru_stime:.3f}\n'.encode())
    sys.exit(status if status >= 0 else 128 - status)


main()
