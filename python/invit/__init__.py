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

from ._library import (CONSTRUCTIONS, DISTRIBUTIONS, METRICS, PROBLEMS, PROGRESS_FN, SHOW_FN, CheckResult, Control, GenerateOptions, InvitError,
                       SolveResult, call, lib)

__all__ = ["Instance", "InvitError", "Model", "Progress", "Solution", "generate", "read", "solve", "version"]

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


class Instance:
    """A problem: coordinates, and for vehicle routing demands and a capacity. Node 0 is then the depot."""

    def __init__(self, coords: Coords, demands: Optional[Sequence[int]] = None, capacity: Optional[int] = None,
                 metric: str = "exact", name: str = "unnamed") -> None:
        n = len(coords)
        shape = getattr(coords, "shape", None)
        if shape != (n, 2) if shape is not None else any(len(row) != 2 for row in coords):
            raise InvitError("coords must have two columns, x and y")
        xy = _array(coords, c.c_double, 2 * n)
        out = c.c_void_p()
        kind = _choose("metric", metric, METRICS)
        if demands is None and capacity is None:
            call("invit_instance_create_tsp", xy, n, kind, c.byref(out))
        elif demands is None or capacity is None:
            raise InvitError("vehicle routing needs both demands and capacity")
        else:
            call("invit_instance_create_cvrp", xy, _array(demands, c.c_int64, n), n,
                 _whole("capacity", capacity, 1, _INT32), kind, c.byref(out))
        self._handle = out
        call("invit_instance_set_name", out, name.encode())

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


def solve(coords: Union[Coords, Instance], demands: Optional[Sequence[int]] = None, capacity: Optional[int] = None, *,
          time: Optional[float] = None, rollouts: Optional[int] = None, seed: int = 1, threads: int = 0,
          metric: Optional[str] = None, model: Optional[Union[Model, str, "os.PathLike[str]"]] = None,
          construct: Optional[str] = None,
          progress: Optional[Callable[[Progress], Optional[bool]]] = None) -> Solution:
    """Solves an instance given as arrays (or an Instance) and returns a checked Solution.

    time: seconds in all; 0 constructs only; None chooses by size.  rollouts: how many constructions; the best wins.
    progress: called now and then; returning False stops, and the best solution so far is the answer (an InvitError
    when there is none yet). Ctrl-C stops too, with KeyboardInterrupt.
    metric: how edges are measured ("exact" if not given); an Instance has its own.
    model: a Model, its file or the name of bundled weights.
    construct: "invit" (default when there are weights), "nearest", "greedy", "space-filling" or "savings".
    """
    if isinstance(coords, Instance):
        if demands is not None or capacity is not None or metric is not None:
            raise InvitError("an Instance has its own demands, capacity and metric; give them to Instance() instead")
        instance = coords
    else:
        instance = Instance(coords, demands, capacity, metric or "exact")
    if model is not None and not isinstance(model, Model):
        model = Model(model)
    options, result, out = lib.invit_solve_defaults(), SolveResult(), c.c_void_p()
    if construct is None and model is None:
        try:
            model = Model(problem=instance.problem)
        except InvitError:
            construct = "greedy" if instance.problem == "tsp" else "savings"
    options.construct = _choose("construct", construct or "invit", CONSTRUCTIONS[:-1])
    if options.construct == 0 and model is None:
        model = Model(problem=instance.problem)
    if time is not None:
        if not (time >= 0 and math.isfinite(time)):
            raise InvitError(f"time must be a number of seconds >= 0, not {time!r}")
        options.seconds = time
    options.rollouts = 0 if rollouts is None else _whole("rollouts", rollouts, 0, _INT32)
    options.seed, options.threads = _whole("seed", seed, 0, _UINT64), _whole("threads", threads, 0, 4096)
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
    if progress is not None:
        options.show = SHOW_FN(on_solution)
    options.control = c.pointer(control)
    try:
        with _interrupt_sets(cancel, raised):
            call("invit_solve", instance._handle, model._handle if model else None, c.byref(options), c.byref(out),
                 c.byref(result))
        if raised:
            raise raised[0]
        routes = _routes(out)
    except InvitError:
        if raised:
            raise raised[0] from None
        raise
    finally:
        lib.invit_solution_destroy(out)
    return Solution(instance, routes, result.length, result.length_exact, result.rollouts, result.decisions,
                    result.constructed, result.seconds_total)


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


def _check(instance: Instance, routes: Sequence[Sequence[int]]) -> CheckResult:
    """The library's independent checker on given routes (used by the tests)."""
    flat = [node for route in routes for node in route]
    starts = [0]
    for route in routes:
        starts.append(starts[-1] + len(route))
    out, result = c.c_void_p(), CheckResult()
    call("invit_solution_create", (c.c_int32 * max(1, len(flat)))(*flat), (c.c_int32 * len(starts))(*starts), len(routes),
         c.byref(out))
    try:
        call("invit_check", instance._handle, out, c.byref(result))
    finally:
        lib.invit_solution_destroy(out)
    return result
