"""Prints its number and each signal that it is sent; USR2 ends it with the status 7, TERM and INT
with 0."""
import os
import signal
import sys

HEEDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
          signal.SIGUSR2, signal.SIGWINCH)

signal.pthread_sigmask(signal.SIG_BLOCK, HEEDED)
os.write(1, b"ready %d\n" % os.getpid())  # one write a line: the output is shared
while True:
    number = signal.sigwait(HEEDED)
    os.write(1, b"%d got %s\n" % (os.getpid(), signal.Signals(number).name.encode()))
    if number in (signal.SIGTERM, signal.SIGINT):
        sys.exit(0)
    if number == signal.SIGUSR2:
        sys.exit(7)
