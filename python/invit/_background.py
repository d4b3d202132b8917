"""Long calls of the library in a thread of their own, so that the caller's thread stays Python's: Ctrl-C works at once, and
what the library reports arrives where it was asked for."""

from __future__ import annotations

import ctypes as c
import queue
import threading
from typing import Any, Callable, Iterator, Optional


class Background:
    """Runs `work` and yields what its callbacks give to report(). Leaving the loop early cancels and waits."""

    def __init__(self, work: Callable[["Background"], Any], room: int = 1) -> None:
        self.cancel, self.result = c.c_int(0), None
        self._work, self._error = work, None  # type: Callable[[Background], Any], Optional[BaseException]
        self._room, self._queue, self._end = threading.Semaphore(room), queue.SimpleQueue(), object()

    def report(self, item: Any) -> None:
        """For the callbacks: waits until the loop has room for it."""
        while not self._room.acquire(timeout=0.1):
            if self.cancel.value:
                return
        self._queue.put(item)

    def _run(self) -> None:
        try:
            self.result = self._work(self)
        except BaseException as error:  # raised again where the loop is
            self._error = error
        finally:
            self._queue.put(self._end)

    def __iter__(self) -> Iterator[Any]:
        thread = threading.Thread(target=self._run, name="invit", daemon=True)
        thread.start()
        try:
            while True:
                item = self._queue.get()
                if item is self._end:
                    break
                self._room.release()
                yield item
        finally:
            self.cancel.value = 1
            thread.join()
        if self._error is not None:
            raise self._error
