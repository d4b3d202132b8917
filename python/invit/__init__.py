"""invit: routes for one or many vehicles, built by a neural policy and tightened by local search.

    >>> import invit
    >>> solution = invit.solve([(0, 0), (0, 1), (1, 1), (1, 0)], time=0)
    >>> solution.length
    4.0
"""

from __future__ import annotations

import contextlib
import ctypes as c
import math
import numbers
import os
import signal
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Callable, Iterator, List, Optional, Sequence, Union

from ._library import (BETTER_FN, CONSTRUCTIONS, DISTRIBUTIONS, METRICS, PROBLEMS, PROGRESS_FN, CheckResult, Control,
                       GenerateOptions, InvitError, Stop, call, lib)

__all__ = ["Instance", "InvitError", "Model", "Progress", "Solution", "StopTime", "generate", "read", "solve", "version"]

Coords = Union[Sequence[Sequence[float]], Any]  # nested sequences or a NumPy array of shape (n, 2)


def version() -> str:
    """Version of the shared library."""
    return lib.invit_version().decode()


def _choose(what: str, value: str, names: Sequence[str]) -> int:
    if value not in names:
        raise InvitError(f"{what} must be one of {', '.join(names)}, not {value!r}")
    return names.index(value)


def _array(values: Any, kind: Any, count: int) -> Any:
    """A C array of `count` numbers from a sequence or a NumPy array (whose memory is read directly when it fits)."""
    dtype = {c.c_double: "d", c.c_int64: "q"}[kind]
    try:
        view = memoryview(values)
        if view.c_contiguous and view.format in (dtype, "l" if dtype == "q" else dtype) and view.nbytes == 8 * count:
            return (kind * count).from_buffer_copy(view.cast("B"))
    except TypeError:
        pass
    flat = values.ravel().tolist() if hasattr(values, "ravel") else list(values)
    if flat and not isinstance(flat[0], numbers.Number):
        flat = [number for row in flat for number in row]
    if len(flat) != count:
        raise InvitError(f"expected {count} numbers, got {len(flat)}")
    return (kind * count)(*(flat if kind is c.c_double else [_whole("demands", v) for v in flat]))


_INT32, _INT64, _UINT64 = 2**31 - 1, 2**63 - 1, 2**64 - 1  # the largest of each


def _whole(what: str, value: Any, low: int = -2**63, high: int = _INT64) -> int:
    """A whole number that fits: ctypes would cut off what does not."""
    try:
        whole = int(value) if isinstance(value, numbers.Real) else None
    except (OverflowError, ValueError):  # infinite, not a number
        whole = None
    if whole is None or whole != value:
        raise InvitError(f"{what}: expected a whole number, not {value!r}")
    if not low <= whole <= high:
        raise InvitError(f"{what}: expected a number from {low} to {high}, not {value!r}")
    return whole


def _columns(rows: Any) -> int:
    """Columns of a table given as nested sequences or a NumPy array; -1 when its rows differ or are no rows."""
    shape = getattr(rows, "shape", None)
    if shape is not None:
        return shape[1] if len(shape) == 2 else -1
    widths = {len(row) if hasattr(row, "__len__") else -1 for row in rows}
    return widths.pop() if len(widths) == 1 else -1


def _clock(value: Any) -> Any:
    """Minutes from "8:30", None as no limit; numbers as they are."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        hours, colon, minutes = value.partition(":")
        if colon and hours.isdigit() and len(minutes) == 2 and minutes.isdigit() and int(minutes) < 60:
            return 60 * int(hours) + int(minutes)
        raise InvitError(f"a time is a number or a text like '8:30', not {value!r}")
    return value


class Instance:
    """A problem: coordinates or a matrix of distances, and what routes must keep. Where there are demands, windows,
    limits or vehicles, node 0 is the depot.

    distances, durations: n rows of n numbers, from row to column, symmetric or not.
    demands, capacity; time_windows: n pairs (earliest, latest) of the start of service, None for no limit, "8:30" for
    minutes; service: time at each stop, or one for all; vehicles: at most so many routes, or "fewest".
    open: routes end at their last stop. start_node, end_node: a path through all nodes, without vehicles.
    max_length, max_duration, max_stops: of a route. speed: distance per unit of time (km/h with metric "haversine").
    """

    def __init__(self, coords: Optional[Coords] = None, demands: Optional[Sequence[float]] = None,
                 capacity: Optional[float] = None, metric: str = "exact", name: str = "unnamed", *,
                 distances: Any = None, durations: Any = None, time_windows: Any = None, service: Any = None,
                 vehicles: Optional[Union[int, str]] = None, open: bool = False, start_node: Optional[int] = None,
                 end_node: Optional[int] = None, max_length: Optional[float] = None,
                 max_duration: Optional[Union[float, str]] = None, max_stops: Optional[int] = None,
                 speed: Optional[float] = None) -> None:
        kind, out = _choose("metric", metric, METRICS), c.c_void_p()
        if coords is None and distances is None:
            raise InvitError("expected coords or distances")
        n = len(distances if coords is None else coords)
        if coords is not None and distances is None and n > 2 and _columns(coords) == n:
            coords, distances = None, coords  # a square matrix is one of distances
        if (demands is None) != (capacity is None):
            raise InvitError("vehicle routing needs both demands and capacity")
        if coords is not None and n > 0 and _columns(coords) != 2:
            raise InvitError("coords must have two columns, x and y")
        for what, matrix in (("distances", distances), ("durations", durations)):
            if matrix is not None and (len(matrix) != n or _columns(matrix) != n):
                raise InvitError(f"{what} must be a square matrix of {n} rows, one per node")
        whole = demands is not None and all(float(d).is_integer() for d in demands) and float(capacity).is_integer()
        if coords is None:
            call("invit_instance_create_matrix", _array(distances, c.c_double, n * n), n, c.byref(out))
        elif whole:
            call("invit_instance_create_cvrp", _array(coords, c.c_double, 2 * n), _array(demands, c.c_int64, n), n,
                 _whole("capacity", capacity, 1, _INT32), kind, c.byref(out))
        else:
            call("invit_instance_create_tsp", _array(coords, c.c_double, 2 * n), n, kind, c.byref(out))
        self._handle = out
        call("invit_instance_set_name", out, name.encode())
        for what, matrix in (("distances", None if coords is None else distances), ("durations", durations)):
            if matrix is not None:
                call("invit_instance_set_matrix", out, what.encode(), _array(matrix, c.c_double, n * n), n)
        if isinstance(service, numbers.Real):
            service = [0.0] + [float(service)] * (n - 1)
        if capacity is not None and not (whole and coords is not None):
            call("invit_instance_set", out, b"capacity", repr(float(capacity)).encode())
            call("invit_instance_set_array", out, b"demands", _array(demands, c.c_double, n), n)
        if service is not None:
            call("invit_instance_set_array", out, b"service", _array([_clock(s) for s in service], c.c_double, n), n)
        if time_windows is not None:
            if len(time_windows) != n or _columns(time_windows) != 2:
                raise InvitError(f"time_windows must be {n} pairs, one per node")
            pairs = [_clock(time) for pair in time_windows for time in pair]
            call("invit_instance_set_array", out, b"time_windows", _array(pairs, c.c_double, 2 * n), 2 * n)
        values = {"open": "yes" if open else None, "start_node": start_node, "end_node": end_node, "vehicles": vehicles,
                  "max_length": max_length, "max_duration": max_duration, "max_stops": max_stops, "speed": speed}
        for key, value in values.items():
            if value is not None:
                call("invit_instance_set", out, key.encode(), str(value).encode())

    @classmethod
    def _adopt(cls, handle: c.c_void_p) -> "Instance":
        self = cls.__new__(cls)
        self._handle = handle
        return self

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.invit_instance_destroy(self._handle)

    def __len__(self) -> int:
        return int(lib.invit_instance_nodes(self._handle))

    def __repr__(self) -> str:
        return f"<invit.Instance {self.name!r}: {self.problem}, {len(self)} nodes>"

    @property
    def problem(self) -> str:
        return PROBLEMS[lib.invit_instance_problem(self._handle)]

    @property
    def name(self) -> str:
        return lib.invit_instance_name(self._handle).decode("utf-8", "replace")

    @property
    def metric(self) -> str:
        return METRICS[lib.invit_instance_metric(self._handle)]

    @property
    def coords(self) -> List[List[float]]:
        xy = lib.invit_instance_coords(self._handle)
        return [[xy[2 * i], xy[2 * i + 1]] for i in range(len(self))]

    @property
    def demands(self) -> Optional[List[int]]:
        demand = lib.invit_instance_demands(self._handle)
        return [demand[i] for i in range(len(self))] if demand else None

    @property
    def capacity(self) -> Optional[int]:
        return int(lib.invit_instance_capacity(self._handle)) if self.problem == "cvrp" else None

    def get(self, name: str) -> Optional[float]:
        """The value of max_length, vehicles, speed and the like, None when there is none."""
        value = lib.invit_instance_get(self._handle, name.encode())
        return None if math.isnan(value) else value


class Model:
    """Weights: a safetensors file or the name of bundled ones ("tsp-3v"), or without either the default for a
    problem ("tsp" or "cvrp")."""

    def __init__(self, path: Optional[Union[str, "os.PathLike[str]"]] = None, problem: str = "tsp") -> None:
        out = c.c_void_p()
        if not os.environ.get("INVIT_MODELS"):
            name = f"{PROBLEMS[_choose('problem', problem, PROBLEMS)]}-2v" if path is None else os.fspath(path)
            own = Path(__file__).resolve().parent / "models" / f"{name}.safetensors"
            if own.exists():
                path = own
        if path is None:
            call("invit_model_load_default", _choose("problem", problem, PROBLEMS), c.byref(out))
        else:
            call("invit_model_load", os.fsencode(path), c.byref(out))
        self.path = None if path is None else os.fspath(path)
        self._handle = out

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.invit_model_destroy(self._handle)


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


@dataclass(frozen=True)
class StopTime:
    """A stop of Solution.schedule(): the load after it and the distance from the beginning of the route."""
    node: int
    arrival: float
    waiting: float
    departure: float
    load: float
    distance: float


@dataclass(frozen=True)
class Solution:
    """A checked solution. `tour` (TSP) and `routes` (CVRP) hold 0-based positions in `coords`."""
    instance: Instance = field(repr=False)
    routes: List[List[int]] = field(repr=False)
    length: float
    length_exact: float
    rollouts: int
    decisions: int
    constructed: float
    seconds: float

    @property
    def tour(self) -> List[int]:
        """The order of all nodes; for vehicle routing the routes one after the other, each from and to the depot."""
        if self.instance.problem == "tsp":
            return self.routes[0]
        return [node for route in self.routes for node in (0, *route)] + [0]

    def schedule(self) -> List[List["StopTime"]]:
        """When each vehicle is where: for each route its stops as they are driven, the depot included."""
        with _solution(self.routes) as handle:
            longest = max((len(route) for route in self.routes), default=0)
            stops, answer = (Stop * (longest + 2))(), []
            for r in range(len(self.routes)):
                count = lib.invit_schedule(self.instance._handle, handle, r, stops)
                answer.append([StopTime(s.node, s.arrival, s.waiting, s.departure, s.load, s.distance)
                               for s in stops[:count]])
        return answer

    def plot(self, axes: Any = None, **line: Any) -> Any:
        """Draws the routes with matplotlib and returns the axes."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as missing:
            raise InvitError("plot() needs matplotlib; `invit plot` draws without it") from missing
        axes = axes if axes is not None else plt.subplots(figsize=(6, 6))[1]
        xy, depot = self.instance.coords, self.instance.problem == "cvrp"
        for route in self.routes:
            stops = [0, *route, 0] if depot else [*route, *route[:1]]
            axes.plot([xy[i][0] for i in stops], [xy[i][1] for i in stops], **{"linewidth": 1, **line})
        if len(xy) <= 2000:
            axes.plot([p[0] for p in xy], [p[1] for p in xy], "k.", markersize=3)
        if depot:
            axes.plot(*xy[0], "rs")
        axes.set_aspect("equal")
        axes.set_title(f"{self.instance.name}: {self.length:g}")
        return axes


def _routes(handle: Any) -> List[List[int]]:
    count = c.c_int32()
    nodes = (lib.invit_solution_route(handle, r, c.byref(count)) for r in range(lib.invit_solution_routes(handle)))
    return [route[:count.value] for route in nodes]


@contextlib.contextmanager
def _interrupt_sets(cancel: Any, raised: List[BaseException]) -> Iterator[None]:
    """Ctrl-C while C code runs: stop it, and raise KeyboardInterrupt when it has."""
    def on_interrupt(_signal: int, _frame: Any) -> None:
        raised.append(KeyboardInterrupt())
        cancel.value = 1

    ours = (threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    if ours:
        signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def solve(coords: Optional[Union[Coords, Instance]] = None, demands: Optional[Sequence[float]] = None,
          capacity: Optional[float] = None, *,
          time: Optional[float] = None, rollouts: Optional[int] = None, seed: int = 1, threads: int = 0,
          metric: Optional[str] = None, model: Optional[Union[Model, str, "os.PathLike[str]"]] = None,
          construct: Optional[str] = None, stop_after: Optional[float] = None,
          progress: Optional[Callable[[Progress], Optional[bool]]] = None, **rules: Any) -> Solution:
    """Solves an instance given as arrays (or an Instance) and returns a checked Solution.

    A square matrix in place of coordinates is one of distances. **rules: distances, durations, time_windows, service,
    vehicles, open, start_node, end_node, max_length, max_duration, max_stops, speed, as in Instance.
    time: seconds in all; 0 constructs only; None chooses by size.  rollouts: how many constructions; the best wins.
    progress: called now and then; returning False stops, and the best solution so far is the answer (an InvitError
    when there is none yet). Ctrl-C stops too, with KeyboardInterrupt.
    stop_after: stop when there was nothing better for so many seconds.
    metric: how edges are measured ("exact" if not given); an Instance has its own.
    model: a Model, its file or the name of bundled weights.
    construct: "invit" (default when there are weights), "nearest", "greedy", "space-filling" or "savings".
    """
    if isinstance(coords, Instance):
        if demands is not None or capacity is not None or metric is not None or rules:
            raise InvitError("an Instance has its own demands, capacity and metric; give them to Instance() instead")
        instance = coords
    else:
        instance = Instance(coords, demands, capacity, metric or "exact", **rules)
    if model is not None and not isinstance(model, Model):
        model = Model(model)
    if not instance.get("plain"):
        construct = construct or "nearest"  # the policy knows no rules: the library takes insertion
    elif construct is None and model is None:
        try:
            model = Model(problem=instance.problem)
        except InvitError:
            construct = "greedy" if instance.problem == "tsp" else "savings"
    _choose("construct", construct or "invit", CONSTRUCTIONS[:5])
    if construct in (None, "invit") and model is None:
        model = Model(problem=instance.problem)
    if time is not None:
        if not (time >= 0 and math.isfinite(time)):
            raise InvitError(f"time must be a number of seconds >= 0, not {time!r}")
    wanted = {"construct": construct or "invit", "time": time, "rollouts": rollouts or None, "stop-after": stop_after,
              "seed": _whole("seed", seed, 0, _UINT64), "threads": _whole("threads", threads, 0, 4096)}
    if rollouts is not None:
        _whole("rollouts", rollouts, 0, _INT32)
    cancel, raised = c.c_int(0), []

    latest = Progress("construct", 0.0, -1.0, math.inf, 0)

    def tell(now: Progress) -> None:
        try:
            if progress is not None and not raised and progress(now) is False:
                cancel.value = 1
        except BaseException as e:  # an exception cannot cross the C code: stop, and raise it on this side
            raised.append(e)
            cancel.value = 1

    def on_progress(_user: Any, p: Any) -> None:
        nonlocal latest
        now = p.contents
        best = math.inf if math.isnan(now.best) else now.best
        latest = Progress(now.stage.decode(), now.elapsed, now.fraction, best, now.count)
        tell(latest)

    def on_solution(_user: Any, seconds: float, length: float, handle: int) -> None:
        tell(replace(latest, elapsed=seconds, best=length, routes=_routes(handle)))

    # without a callback of the user's there is one too: Python looks at signals only when Python code runs
    control = Control(cancel=c.pointer(cancel), progress=PROGRESS_FN(on_progress))
    better = BETTER_FN(on_solution)
    options, out = lib.invit_options_create(), c.c_void_p()
    if not options:
        raise MemoryError
    try:
        for name, value in wanted.items():
            if value is not None:
                text = repr(float(value)) if name == "time" else str(value)
                call("invit_options_set", options, name.encode(), text.encode())
        lib.invit_options_set_control(options, c.byref(control))
        if progress is not None:
            lib.invit_options_set_better(options, better, None, True)
        with _interrupt_sets(cancel, raised):
            call("invit_solve", instance._handle, model._handle if model else None, options, c.byref(out))
        if raised:
            raise raised[0]
        routes = _routes(out)
        found = {name: lib.invit_solution_get(out, name.encode())
                 for name in ("length", "length_exact", "rollouts", "decisions", "constructed", "seconds_total")}
    except InvitError:
        if raised:
            raise raised[0] from None
        raise
    finally:
        lib.invit_options_destroy(options)
        lib.invit_solution_destroy(out)
    return Solution(instance, routes, found["length"], found["length_exact"], int(found["rollouts"]),
                    int(found["decisions"]), found["constructed"], found["seconds_total"])


def generate(problem: str = "tsp", size: int = 100, distribution: str = "uniform", seed: int = 1, index: int = 0,
             capacity: Optional[int] = None, library: bool = False) -> Instance:
    """Instance `index` of stream `seed` of one of the four MSVDRP distributions; with `library` more like
    those of TSPLIB (dense patches, rows and grids) and CVRPLIB's X set (capacity, demands and depot)."""
    options, out = GenerateOptions(capacity=50, demand_min=1, demand_max=10), c.c_void_p()
    if capacity is not None:
        options.capacity = _whole("capacity", capacity, 1, _INT32)
    options.like_library = library
    call("invit_generate_with", _choose("problem", problem, PROBLEMS), _choose("distribution", distribution, DISTRIBUTIONS),
         _whole("size", size, 1, 10**9), _whole("seed", seed, 0, _UINT64), _whole("index", index, 0, _UINT64),
         c.byref(options), c.byref(out))
    return Instance._adopt(out)


def read(path: Union[str, "os.PathLike[str]"], index: int = 0, capacity: Optional[int] = None) -> Instance:
    """Instance `index` of a file in any format the library knows (TSPLIB, CVRPLIB, MSVDRP, lists, CSV, .npy).

    capacity: the vehicles', for a CSV table with demands that does not name one."""
    index, out = _whole("index", index, 0, _INT64), c.c_void_p()
    if capacity is None:
        call("invit_instance_read", os.fsencode(path), index, c.byref(out))
        return Instance._adopt(out)
    if index != 0:
        raise InvitError("capacity is for a table, which holds one instance: leave index out")
    reader = c.c_void_p()
    call("invit_reader_open", os.fsencode(path), c.byref(reader))
    try:
        lib.invit_reader_set_capacity(reader, _whole("capacity", capacity, 1, _INT32))
        call("invit_reader_next", reader, c.byref(out))
    finally:
        lib.invit_reader_close(reader)
    return Instance._adopt(out)


@contextlib.contextmanager
def _solution(routes: Sequence[Sequence[int]]) -> Iterator[Any]:
    """A solution of the library's from lists, for the time of a block."""
    flat = [node for route in routes for node in route]
    starts = [0]
    for route in routes:
        starts.append(starts[-1] + len(route))
    out = c.c_void_p()
    call("invit_solution_create", (c.c_int32 * max(1, len(flat)))(*flat), (c.c_int32 * len(starts))(*starts), len(routes),
         c.byref(out))
    try:
        yield out
    finally:
        lib.invit_solution_destroy(out)


def _check(instance: Instance, routes: Sequence[Sequence[int]]) -> CheckResult:
    """The library's independent checker on given routes (used by the tests)."""
    result = CheckResult()
    with _solution(routes) as handle:
        call("invit_check", instance._handle, handle, c.byref(result))
    return result
