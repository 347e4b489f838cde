"""Training by the clock: a run has so many seconds, so that it ends when it should, however fast its machine is."""

import time

STARTED = time.time()


class Clock:
    """`since` is when the seconds began, in seconds since 1970; otherwise it is the start of this process."""

    def __init__(self, seconds, name="", since=None):
        self.seconds, self.name, self.begun, self.said = seconds, name, since or STARTED, 0.0

    @property
    def elapsed(self):
        return time.time() - self.begun

    @property
    def progress(self):
        """The share of the seconds that have passed, at most 1."""
        return min(self.elapsed / self.seconds, 1.0)

    def due(self, every=15.0):
        """Whether it is time for a line of progress."""
        if self.said and self.elapsed - self.said < every:
            return False
        self.said = self.elapsed
        return True

    def say(self, text):
        print(f"{self.name} {self.elapsed:.0f} s: {text}".strip(), flush=True)
