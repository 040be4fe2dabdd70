"""Waiting for something to become true, with a deadline."""
import time


def wait_until(predicate, what, timeout=10.0):
    """Returns the first true value of `predicate`. For what can only be asked, never be told."""
    deadline = time.monotonic() + timeout
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {what() if callable(what) else what}")
        time.sleep(0.005)
