"""Runs a command and writes the peak of its resident memory, in bytes, to a file. Small itself: a
child counts from what its parent had at the fork.

    python3 -S -E peak_memory.py FILE COMMAND...
"""
import os
import signal
import sys

child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, setsigdef=[signal.SIGPIPE])
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w", encoding="ascii") as handle:
    handle.write(str(usage.ru_maxrss * 1024))
if os.WIFSIGNALED(status):
    signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
    os.kill(os.getpid(), os.WTERMSIG(status))
os._exit(os.waitstatus_to_exitcode(status))
