"""invit: routes for one or many vehicles, built by a neural policy and tightened by local search.

    >>> import invit
    >>> solution = invit.solve([(0, 0), (0, 1), (1, 1), (1, 0)], time=0)
    >>> solution.length
    4.0
    >>> solution
    <invit.Solution 'unnamed': a tour of 4 nodes, length 4>
    >>> trucks = invit.solve({"id": ["depot", "A", "B"], "x": [0, 3, 0], "y": [0, 0, 4], "demand": [0, 5, 5]},
    ...                      capacity=6, iterations=10)
    >>> [(list(route), route.length, route.load) for route in sorted(trucks.routes)]
    [([1], 6.0, 5.0), ([2], 8.0, 5.0)]
"""

from __future__ import annotations

import contextlib
import ctypes as c
import importlib
import math
import numbers
import os
import signal
import threading
import warnings
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from ._decisions import Decision, decisions
from ._instance import _UINT64, Coords, Instance, _whole, generate, read
from ._library import BETTER_FN, PROGRESS_FN, STATUS_IO, Control, InvitError, OptionRow, call, lib, solver_options
from ._model import Model
from ._progress import Bar, Progress
from ._solution import Check, Route, Solution, StopTime, _handle, _routes, as_routes, check

__all__ = ["Check", "Decision", "Instance", "InvitError", "Model", "Option", "Progress", "Route", "Solution", "StopTime",
           "check", "decisions", "generate", "options", "read", "solve", "version"]


def version() -> str:
    """Version of the shared library."""
    return lib.invit_version().decode()


__version__ = version()
InvitError.__module__ = __name__  # as people catch it


def __dir__() -> List[str]:
    return sorted([*__all__, "__version__", "lab"])


def __getattr__(name: str) -> Any:  # the lab needs libraries that solving does not: only for those who ask for it
    if name == "lab":
        return importlib.import_module(".lab", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@dataclass(frozen=True)
class Option:
    """An option of solve(): `default` in words where it depends on the instance."""
    name: str
    type: str
    choices: Tuple[str, ...]
    min: float
    max: float
    default: str
    help: str


def options() -> List[Option]:
    """The options of solve(), the same as those of `invit solve`.

    >>> import invit
    >>> [option.default for option in invit.options() if option.name == "improve"]
    ['search']
    """
    answer, row = [], OptionRow()
    while lib.invit_options_row(None, len(answer), c.byref(row), c.sizeof(row)):
        choices = tuple(row.choices.decode().split("|")) if row.choices else ()
        answer.append(Option(row.name.decode().replace("-", "_"), row.type.decode(), choices, row.min, row.max,
                             (row.fallback or b"").decode(), (row.help or b"").decode()))
    return answer


_RULES = ("distances", "durations", "time_windows", "service", "vehicles", "open", "start_node", "end_node",
          "max_length", "max_duration", "max_stops", "speed", "freeze", "labels", "name")


def _text(option: Option, value: Any) -> str:
    """A value as the library reads it; what C's numbers cannot hold is refused, not cut off."""
    if option.type == "uint64":
        return str(_whole(option.name, value, 0, _UINT64))
    if option.type == "int":
        return str(_whole(option.name, value, int(option.min), int(option.max)))
    if option.type in ("seconds", "number") and not isinstance(value, str):
        if not isinstance(value, numbers.Real) or not math.isfinite(value):
            raise InvitError(f"{option.name}: expected a number" + " of seconds" * (option.type == "seconds")
                             + f", not {value!r}")
        return repr(float(value))
    return str(value)


def _option_texts(given: Dict[str, Any]) -> Dict[str, str]:
    """Option texts by the library's names; unknown ones are refused with those there are."""
    table = {option.name: option for option in options()}
    for name in given:
        if name not in table:
            raise InvitError(f"solve() has no option {name!r}: expected one of {', '.join(table)}, or for the instance "
                             f"{', '.join(_RULES)}")
    return {name.replace("_", "-"): _text(table[name], value) for name, value in given.items() if value is not None}


def _default_model(problem: str, fallback: bool) -> Optional[Model]:
    """The bundled weights. Without any, construction goes on without the policy, and says so; damaged ones are an error."""
    try:
        return Model(problem=problem)
    except InvitError as error:
        if not fallback or error.status != STATUS_IO or not str(error).startswith("no model"):
            raise
        warnings.warn(f"no bundled model for {problem}, so the routes begin without the policy", stacklevel=3)
        return None


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
          construct: Optional[str] = None, stop_after: Optional[float] = None, iterations: Optional[int] = None,
          target: Optional[float] = None, improve: Optional[str] = None, decode: Optional[str] = None,
          start: Any = None, progress: Union[bool, None, Callable[[Progress], Optional[bool]]] = None,
          **rules: Any) -> Solution:
    """Solves an instance given as arrays, a table, a file's name or an Instance, and returns a checked Solution.

    coords: n rows x, y; a square matrix is one of distances; a pandas DataFrame or another table with named columns (see
    Instance). **rules: distances, durations, time_windows, service, vehicles, open, start_node, end_node, max_length,
    max_duration, max_stops, speed, labels, name, as in Instance; and the rarer options of options(): temperature, beam.
    time: seconds in all; 0 constructs only; None chooses by size.  rollouts: how many constructions; the best wins.
    iterations: improvement steps; without time, the same seed and threads give the same solution.
    target: stop at this length.  stop_after: stop when there was nothing better for so many seconds.
    start: begin with a Solution, lists of nodes or a solution file.
    improve: "search", "neural" or "both".  decode: "auto", "greedy", "sample" or "beam".
    progress: True shows a line on standard error. Or it is called now and then; returning False stops, and the best
    solution so far is the answer. Ctrl-C stops too, with KeyboardInterrupt.
    metric: how edges are measured ("exact" if not given); an Instance has its own.
    model: a Model, its file or the name of bundled weights.
    construct: "invit" (default when there are weights), "nearest", "greedy", "space-filling" or "savings".
    """
    given = {name: value for name, value in rules.items() if name not in _RULES}
    rules = {name: value for name, value in rules.items() if name in _RULES}
    if rollouts == 0 and not isinstance(rollouts, bool):
        rollouts = None  # as many as the size asks for
    texts = _option_texts({**given, "time": time, "rollouts": rollouts, "stop_after": stop_after, "target": target,
                           "iterations": iterations, "improve": improve, "decode": decode, "construct": construct})
    texts["seed"] = str(_whole("seed", seed, 0, _UINT64))
    texts["threads"] = str(_whole("threads", threads, 0, 4096))
    if isinstance(coords, Instance):
        if demands is not None or capacity is not None or metric is not None or rules:
            raise InvitError("an Instance has its own demands, capacity and metric; give them to Instance() instead")
        instance = coords
    elif isinstance(coords, (str, os.PathLike)):
        if demands is not None or metric is not None or rules:
            raise InvitError("a file has its own demands, metric and rules, only capacity goes beside it; read it as a "
                             "table, with pandas or csv.DictReader, to change more")
        instance = read(coords, capacity=capacity)
    else:
        instance = Instance(coords, demands, capacity, metric, **rules)
    if model is not None and not isinstance(model, Model):
        model = Model(model)
    if not instance.get("policy"):
        texts.setdefault("construct", "nearest")  # windows, matrices alone: the library takes insertion
    neural = improve in ("neural", "both")
    if model is None and (neural or (start is None and texts.get("construct", "invit") == "invit")):
        model = _default_model(instance.problem, fallback=not neural and construct is None)
        if model is None:
            texts["construct"] = "greedy" if instance.problem == "tsp" else "savings"
    if progress is True:
        bar = Bar()
        try:
            solution = _run(instance, model, texts, start, bar)
        except BaseException:
            bar.close()
            raise
        bar.close(f"{repr(solution)[7:-1]}, {solution.seconds:.1f} s")
        return solution
    return _run(instance, model, texts, start, progress or None)


def _run(instance: Instance, model: Optional[Model], texts: Dict[str, str], start: Any,
         progress: Optional[Callable[[Progress], Optional[bool]]]) -> Solution:
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

    def on_solution(_user: Any, seconds: float, length: float, found: int) -> None:
        tell(replace(latest, elapsed=seconds, best=length, routes=_routes(found, instance)))

    # without a callback of the user's there is one too: Python looks at signals only when Python code runs
    control = Control(cancel=c.pointer(cancel), progress=PROGRESS_FN(on_progress))
    better = BETTER_FN(on_solution)
    out = c.c_void_p()
    try:
        with contextlib.ExitStack() as stack:
            handle = stack.enter_context(solver_options(texts))
            lib.invit_options_set_control(handle, c.byref(control))
            if progress is not None:
                lib.invit_options_set_better(handle, better, None, True)
            if start is not None:
                begin = stack.enter_context(_handle(as_routes(instance, start)))
                lib.invit_options_set_start(handle, begin)
            stack.enter_context(_interrupt_sets(cancel, raised))
            call("invit_solve", instance._handle, model._handle if model else None, handle, c.byref(out))
        if raised:
            raise raised[0]
        routes = _routes(out, instance)
        found = {name: lib.invit_solution_get(out, name.encode())
                 for name in ("length", "length_exact", "rollouts", "decisions", "constructed", "seconds_total")}
    except InvitError:
        if raised:
            raise raised[0] from None
        raise
    finally:
        lib.invit_solution_destroy(out)
    return Solution(instance, routes, found["length"], found["length_exact"], int(found["rollouts"]),
                    int(found["decisions"]), found["constructed"], found["seconds_total"])


_check = check  # the name before there was a public one
