"""Solutions: routes that know their stops, checking, writing and drawing them."""

from __future__ import annotations

import contextlib
import ctypes as c
import json
import math
import os
import re
from dataclasses import dataclass, field
from html import escape
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

from ._instance import Instance
from ._library import SOLUTION_FORMATS, CheckResult, InvitError, SolutionInfo, Stop, call, free, lib
from ._picture import COLOURS, Map, plane, table

PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class StopTime:
    """A stop as it is driven: the load after it and the distance from the beginning of the route."""
    node: int
    arrival: float
    waiting: float
    departure: float
    load: float
    distance: float


@dataclass(frozen=True)
class Check:
    """What the independent checker says; true when the solution is feasible. `message` is the first reason why not."""
    feasible: bool
    length: float
    length_exact: float
    routes: int
    message: str

    def __bool__(self) -> bool:
        return self.feasible


class Route(list):
    """The nodes of a route as a list (vehicle routing: without the depot), and what follows from them."""

    def __init__(self, nodes: Iterable[int] = (), instance: Optional[Instance] = None) -> None:
        super().__init__(nodes)
        self.instance = instance

    def __reduce__(self) -> Any:
        return Route, (list(self), self.instance)

    def _driven(self) -> Any:
        """An array of the library's stops."""
        if self.instance is None:
            raise InvitError("a route without an instance has no stops: give it one, Route(nodes, instance)")
        n, room = len(self.instance), (Stop * (len(self) + 2))()
        if any(not 0 <= node < n for node in self):
            raise InvitError(f"a route has nodes from 0 to {n - 1}")
        with _handle([self]) as handle:
            count = lib.invit_schedule(self.instance._handle, handle, 0, room)
        return (Stop * count).from_buffer(room)

    @property
    def stops(self) -> List[StopTime]:
        """The stops as they are driven, the depot or the way back to the first node included."""
        return [StopTime(s.node, s.arrival, s.waiting, s.departure, s.load, s.distance) for s in self._driven()]

    @property
    def path(self) -> List[int]:
        """The nodes as they are driven, the depot or the way back to the first node included."""
        return [stop.node for stop in self._driven()]

    @property
    def length(self) -> float:
        stops = self._driven()
        return stops[-1].distance if stops else 0.0

    @property
    def load(self) -> float:
        stops = self._driven()
        return stops[-1].load if stops else 0.0

    @property
    def arrivals(self) -> List[float]:
        """When the vehicle is at each node of this list."""
        times = [stop.arrival for stop in self._driven()]
        return times[1:len(self) + 1] if _depot(self.instance) else times[:len(self)]

    @property
    def duration(self) -> float:
        """From leaving to being back: travel, waiting and service."""
        stops = self._driven()
        return stops[-1].departure - stops[0].departure if stops else 0.0


def _depot(instance: Optional[Instance]) -> bool:
    return instance is not None and instance.problem == "cvrp"


def _routes(handle: Any, instance: Optional[Instance] = None) -> List[Route]:
    count = c.c_int32()
    nodes = (lib.invit_solution_route(handle, r, c.byref(count)) for r in range(lib.invit_solution_routes(handle)))
    return [Route(route[:count.value], instance) for route in nodes]


@contextlib.contextmanager
def _handle(routes: Sequence[Sequence[int]]) -> Iterator[Any]:
    """A solution of the library's from lists, for the time of a block."""
    flat = [node for route in routes for node in route]
    starts = [0]
    for route in routes:
        starts.append(starts[-1] + len(route))
    out = c.c_void_p()
    try:
        if flat and not (-2**31 <= min(flat) and max(flat) < 2**31):  # ctypes would cut them off
            raise InvitError("a route has a node number that is far too large")
        nodes = (c.c_int32 * max(1, len(flat)))(*flat)
    except TypeError as wrong:
        raise InvitError(f"routes are lists of whole numbers: {wrong}") from None
    call("invit_solution_create", nodes, (c.c_int32 * len(starts))(*starts), len(routes), c.byref(out))
    try:
        yield out
    finally:
        lib.invit_solution_destroy(out)


def as_routes(instance: Instance, given: Any) -> List[List[int]]:
    """Routes from a Solution, from lists of nodes, from one list of nodes (vehicle routing: the depot, 0, between the
    routes) or from a solution file."""
    if isinstance(given, (str, os.PathLike)):
        return _read(instance, given)
    routes = given.routes if isinstance(given, Solution) else given
    try:
        routes = [route.tolist() if hasattr(route, "tolist") else route for route in routes]
        if any(hasattr(route, "__iter__") for route in routes):
            return [list(route) for route in routes]
    except TypeError:
        raise InvitError(f"expected routes, a tour or the name of a solution file, not {given!r}") from None
    if not _depot(instance):
        return [routes]
    answer: List[List[int]] = [[]]
    for node in routes:
        if node == 0:
            answer.append([])
        else:
            answer[-1].append(node)
    return [route for route in answer if route]


def _read(instance: Instance, path: PathLike) -> List[List[int]]:
    reader, out = c.c_void_p(), c.c_void_p()
    call("invit_solution_reader_open", os.fsencode(path), c.byref(reader))
    try:
        call("invit_solution_reader_next", reader, instance._handle, c.byref(out), None)
        if not out:
            raise InvitError(f"{os.fspath(path)}: expected a solution")
        return [list(route) for route in _routes(out)]
    finally:
        lib.invit_solution_destroy(out)
        lib.invit_solution_reader_close(reader)


def check(instance: Instance, solution: Any) -> Check:
    """Checks and measures a Solution, lists of nodes or a solution file with code that shares nothing with the solver."""
    result = CheckResult()
    with _handle(as_routes(instance, solution)) as handle:
        call("invit_check", instance._handle, handle, c.byref(result))
    return Check(result.feasible, result.length, result.length_exact, result.routes,
                 result.message.decode("utf-8", "replace"))


_SUFFIXES = {".tour": "tour", ".sol": "routes", ".txt": "msvdrp", ".geojson": "geojson", ".json": "geojson",
             ".csv": "stops", ".gpx": "gpx", ".kml": "kml",
             ".html": "sheets"}


@dataclass(frozen=True, repr=False)
class Solution:
    """A checked solution. `tour` (TSP) and `routes` (CVRP) hold 0-based positions in `coords`."""
    instance: Instance = field()
    routes: List[Route] = field()
    length: float
    length_exact: float
    rollouts: int
    decisions: int
    constructed: float
    seconds: float

    def __repr__(self) -> str:
        what = f"{len(self.routes)} routes" if _depot(self.instance) and len(self.routes) != 1 else (
            "1 route" if _depot(self.instance) else f"a tour of {len(self.instance)} nodes")
        return f"<invit.Solution {self.instance.name!r}: {what}, length {self.length:.10g}>"

    @property
    def tour(self) -> List[int]:
        """The order of all nodes; for vehicle routing the routes one after the other, each from and to the depot."""
        if self.instance.problem == "tsp":
            return list(self.routes[0])
        return [node for route in self.routes for node in (0, *route)] + [0]

    def schedule(self) -> List[List[StopTime]]:
        """When each vehicle is where: for each route its stops as they are driven, the depot included."""
        return [route.stops for route in self.routes]

    def check(self) -> Check:
        """Checks and measures the routes once more."""
        return check(self.instance, self)

    # ---- for other programs ----

    def _write(self, handle: Any, writer: Any, format: int, route: int = 0) -> None:
        try:
            info = SolutionInfo(self.length, self.seconds, route)
            call("invit_writer_solution", writer, self.instance._handle, handle, format, c.byref(info))
        except BaseException:
            lib.invit_writer_abandon(writer)
            raise
        call("invit_writer_close", writer)

    def save(self, path: PathLike, format: Optional[str] = None) -> None:
        """Writes the solution; the format follows from the name: .tour (TSPLIB), .sol (CVRPLIB), .txt (MSVDRP),
        .geojson, .csv (one stop per line), .gpx, .kml, .html (one sheet per driver), or is named: "tour", "routes",
        "msvdrp", "geojson", "stops", "summary" (a CSV of the routes), "gpx", "kml", "sheets". A name that ends in "/", or
        a folder: stops.csv, summary.csv and one route-N.csv for each route."""
        if format is None and (os.fspath(path).endswith(os.sep) or os.path.isdir(path)):
            self._save_folder(os.fspath(path))
            return
        suffix = os.path.splitext(os.fspath(path))[1].lower()
        format = format or _SUFFIXES.get(suffix)
        if format not in SOLUTION_FORMATS:
            raise InvitError(f"{os.fspath(path)}: expected a name that ends in {', '.join(_SUFFIXES)}, "
                             f"or format= one of {', '.join(SOLUTION_FORMATS)}")
        writer = c.c_void_p()
        with _handle(self.routes) as handle:
            call("invit_writer_open", os.fsencode(path), c.byref(writer))
            self._write(handle, writer, SOLUTION_FORMATS[format])

    def _save_folder(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        routes = [route for route in self.routes if route]
        digits, names = len(str(len(routes))), {"stops.csv": ("stops", 0), "summary.csv": ("summary", 0)}
        names.update({f"route-{r:0{digits}}.csv": ("stops", r) for r in range(1, len(routes) + 1)})
        with _handle(self.routes) as handle:
            for name, (format, route) in names.items():
                writer = c.c_void_p()
                call("invit_writer_open", os.fsencode(os.path.join(folder, name)), c.byref(writer))
                self._write(handle, writer, SOLUTION_FORMATS[format], route)
        for name in os.listdir(folder):  # lists of an earlier plan would be driven too
            if re.fullmatch(r"route-\d+\.csv", name) and name not in names:
                os.remove(os.path.join(folder, name))

    def to_geojson(self) -> Dict[str, Any]:
        """A GeoJSON FeatureCollection: nodes as points, routes as lines."""
        text, size, writer = c.c_void_p(), c.c_size_t(), c.c_void_p()
        with _handle(self.routes) as handle:
            call("invit_writer_open_memory", c.byref(text), c.byref(size), c.byref(writer))
            try:
                self._write(handle, writer, SOLUTION_FORMATS["geojson"])
                return json.loads(c.string_at(text.value or 0, size.value))
            finally:
                free(text)

    def to_records(self) -> List[Dict[str, Any]]:
        """One dict per stop as it is driven: route, stop, node, label, coordinates, load, distance and times."""
        labels, xy = self.instance.labels, self.instance.coords
        globe = self.instance.metric == "haversine"
        names = ("lon", "lat") if globe else ("x", "y")
        records = []
        for r, route in enumerate(self.routes):
            for s, stop in enumerate(route.stops):
                record: Dict[str, Any] = {"route": r, "stop": s, "node": stop.node}
                if labels:
                    record["label"] = labels[stop.node]
                if xy:
                    x, y = xy[stop.node]
                    if globe and abs(x) > 180:  # laid out in one piece across the date line
                        x = math.remainder(x, 360)
                    record.update(zip(names, (x, y)))
                record.update(load=stop.load, distance=stop.distance)
                if self.instance.get("timed"):
                    record.update(arrival=stop.arrival, waiting=stop.waiting, departure=stop.departure)
                records.append(record)
        return records

    def to_frame(self) -> Any:
        """to_records() as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as missing:
            raise InvitError("to_frame() needs pandas; to_records() gives the same rows without it") from missing
        return pandas.DataFrame(self.to_records())

    # ---- pictures ----

    def plot(self, axes: Any = None, **line: Any) -> Any:
        """Draws the routes with matplotlib and returns the axes."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as missing:
            raise InvitError("plot() needs matplotlib; `invit plot` draws without it") from missing
        xy, aspect = plane(self.instance)
        axes = axes if axes is not None else plt.subplots(figsize=(6, 6))[1]
        for route in self.routes:
            path = route.path
            axes.plot([xy[i][0] for i in path], [xy[i][1] for i in path], **{"linewidth": 1, **line})
        if len(xy) <= 2000:
            axes.plot([p[0] for p in xy], [p[1] for p in xy], "k.", markersize=3)
        if _depot(self.instance):
            axes.plot(*xy[0], "rs")
        axes.set_aspect(aspect)
        axes.set_title(f"{self.instance.name}: {self.length:g}")
        return axes

    def _repr_svg_(self) -> Optional[str]:
        """The picture notebooks show; none for instances without coordinates or with more than 20,000 nodes."""
        if not 0 < len(self.instance) <= 20000 or not self.instance.get("has_coords"):
            return None
        picture = Map(self.instance, repr(self)[1:-1])
        for r, route in enumerate(self.routes):
            picture.line(route.path, COLOURS[r % len(COLOURS)])
        if len(self.instance) <= 2000:
            labels = self.instance.labels
            for node in range(len(self.instance)):
                picture.dot(node, 2, labels[node] if labels else "")
        if _depot(self.instance):
            picture.depot()
        return str(picture)

    def _repr_html_(self) -> str:
        """What notebooks show: the picture, and the routes as a table (the first 50 of them)."""
        parts = [self._repr_svg_() or "", f"<p>{escape(repr(self)[len('<invit.Solution '):-1])}</p>"]
        if _depot(self.instance):
            timed, head = bool(self.instance.get("timed")), ["", "stops", "length", "load"]
            rows = [[r, len(route), f"{route.length:.10g}", f"{route.load:g}"]
                    + ([f"{route.duration:.4g}"] if timed else []) for r, route in enumerate(self.routes[:50])]
            parts.append(table(head + ["duration"] * timed, rows, [COLOURS[r % len(COLOURS)] for r in range(len(rows))]))
            if len(self.routes) > len(rows):
                parts.append(f"<p>and {len(self.routes) - len(rows)} more</p>")
        return "\n".join(parts)
