"""What solving tells while it runs, and the line that shows it."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from typing import Any, List, Optional


@dataclass(frozen=True)
class Progress:
    """What the progress callback is given. `best` is the shortest length so far, infinite while there is none;
    `routes` is a better solution (as in Solution) when there is a new one, a few times a second at most, else None."""
    stage: str
    elapsed: float
    fraction: float
    best: float
    count: int
    routes: Optional[List[List[int]]] = None
    message: str = ""  # of training and evaluation: what the command line shows


class Bar:
    """progress=True: one line on standard error, in a terminal or a notebook."""

    def __init__(self, stream: Any = None) -> None:
        self.stream = stream or sys.stderr
        self.shown, self.width = -math.inf, 0

    def __call__(self, now: Progress) -> None:
        if time.monotonic() - self.shown < 0.1:
            return
        self.shown = time.monotonic()
        bar = ""
        if 0 <= now.fraction <= 1:
            filled = round(20 * now.fraction)
            bar = f" [{'#' * filled}{'.' * (20 - filled)}] {100 * now.fraction:3.0f} %"
        best = f"  best {now.best:.8g}" if math.isfinite(now.best) else ""
        more = f"  {now.message}" if now.message else ""
        self._put(f"{now.stage:<9}{bar}  {now.elapsed:.1f} s{best}{more}")

    def _put(self, text: str) -> None:
        self.stream.write("\r" + text.ljust(self.width))
        self.stream.flush()
        self.width = len(text)

    def close(self, text: str = "") -> None:
        """Ends the line: `text` stands in its place."""
        self._put(text)
        self.stream.write("\n" if text else "\r")
        self.stream.flush()
