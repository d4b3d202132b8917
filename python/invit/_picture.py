"""Maps as SVG, without any other library."""

from __future__ import annotations

import math
from html import escape
from typing import Any, List, Sequence, Tuple

from ._instance import Instance
from ._library import InvitError

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c510a", "#5e3c99")


def plane(instance: Instance) -> Tuple[List[List[float]], float]:
    """Coordinates to draw, x to the right and y up, and how much longer a unit of y is than one of x."""
    xy = instance.coords
    if not xy:
        raise InvitError("an instance of distances alone has no coordinates to draw")
    if instance.metric == "geo":  # TSPLIB: latitude first, DDD.MM
        xy = [[math.trunc(v) + 5 / 3 * (v - math.trunc(v)) for v in (y, x)] for x, y in xy]
    if instance.metric not in ("geo", "haversine"):
        return xy, 1.0
    low, high = min(y for _, y in xy), max(y for _, y in xy)
    return xy, 1 / max(0.01, math.cos(math.radians((low + high) / 2)))


class Map:
    """An SVG in the making: the longer side is `size` pixels."""

    def __init__(self, instance: Instance, title: str, size: float = 460) -> None:
        xy, aspect = plane(instance)
        left, top = min(x for x, _ in xy), max(y for _, y in xy)
        wide, high = max(x for x, _ in xy) - left, (top - min(y for _, y in xy)) * aspect
        unit = size / (max(wide, high) or 1)
        self.at = [(20 + (x - left) * unit, 20 + (top - y) * aspect * unit) for x, y in xy]
        width, height = 40 + wide * unit, 40 + high * unit
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
                      f'width="{width:.0f}">', f"<title>{escape(title)}</title>"]

    def line(self, nodes: Sequence[int], colour: str, more: str = "") -> None:
        points = " ".join(f"{self.at[i][0]:.1f},{self.at[i][1]:.1f}" for i in nodes)
        self.parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5" '
                          f'stroke-linejoin="round"{more}/>')

    def dot(self, node: int, radius: float, title: str = "", more: str = "") -> None:
        (x, y), name = self.at[node], f"<title>{escape(title)}</title>" if title else ""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"{more}>{name}</circle>')

    def depot(self) -> None:
        x, y = self.at[0]
        self.parts.append(f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" fill="#b00"/>')

    def __str__(self) -> str:
        return "\n".join(self.parts) + "\n</svg>"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], colours: Sequence[str] = ()) -> str:
    """A table of HTML; a row's colour marks its first cell."""
    parts = ["<table><thead><tr>", *(f"<th>{escape(name)}</th>" for name in head), "</tr></thead><tbody>"]
    for r, row in enumerate(rows):
        mark = f' style="border-left: 6px solid {colours[r]}"' if colours else ""
        cells = [f"<td{mark if not i else ''}>{escape(str(value))}</td>" for i, value in enumerate(row)]
        parts.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join(parts) + "\n</tbody></table>"
