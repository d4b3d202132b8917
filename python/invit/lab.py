"""invit.lab: train models, measure them, take over published checkpoints.

It needs libinvit-lab.so, which `make` builds beside libinvit.so and which uses cairo and libzip; without it, importing this
module is an ImportError that says what is missing. The options are those of `invit train` and `invit eval`
(docs/training.md, docs/commands.md), with underscores instead of hyphens.
"""

from __future__ import annotations

import contextlib
import ctypes as c
import json
import math
import os
import shlex
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import _option_texts
from ._background import Background
from ._instance import _INT32, _UINT64, _choose, _whole
from ._lab_library import (METHODS, MOST_VIEWS, SETS, STORAGE, TABLES, EvalOptions, TrainOptionRow, TrainOptions,
                           TrainResult, call, lab)
from ._library import DISTRIBUTIONS, PROBLEMS, PROGRESS_FN, STATUS_CANCELLED, Control, InvitError, free, solver_options
from ._model import Model
from ._picture import table
from ._progress import Bar, Progress

__all__ = ["Report", "Summary", "Table", "TrainOption", "Training", "describe", "evaluate", "import_checkpoint", "save",
           "train", "train_options"]

PathLike = Union[str, "os.PathLike[str]"]
Watcher = Union[bool, None, Callable[[Progress], Optional[bool]]]


def _bool_text(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _run(work: Callable[[Control], Any], progress: Watcher) -> Any:
    """A long call with progress and Ctrl-C. A callback that returns False stops it."""
    def in_thread(background: Background) -> Any:
        def on_progress(_user: Any, told: Any) -> None:
            p = told.contents
            best = math.inf if math.isnan(p.best) else p.best
            background.report(Progress(p.stage.decode(), p.elapsed, p.fraction, best, p.count,
                                       message=(p.message or b"").decode("utf-8", "replace")))

        control = Control(cancel=c.pointer(background.cancel))
        if progress:
            control.progress = PROGRESS_FN(on_progress)
        return work(control)

    bar = Bar() if progress is True else None
    background = Background(in_thread)
    with contextlib.closing(iter(background)) as told:
        try:
            for now in told:
                if bar:
                    bar(now)
                elif progress(now) is False:
                    background.cancel.value = 1
        finally:
            if bar:
                bar.close()
    return background.result


# ---- models --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Summary:
    """What a model is. `views`: neighbours in the action view, then in each state view."""
    problem: str
    width: int
    feed_forward: int
    heads: int
    action_layers: int
    state_layers: int
    decoder_layers: int
    views: Tuple[int, ...]
    invariant: bool
    canonical_frame: bool
    parameters: int
    metadata: Dict[str, str]


def describe(model: Union[Model, PathLike]) -> Summary:
    """Sizes of a model and where it came from.

        >>> import invit
        >>> invit.lab.describe("tsp-2v").views
        (15, 35)
    """
    model = model if isinstance(model, Model) else Model(model)
    s = lab.invit_model_describe(model._handle)
    return Summary(PROBLEMS[s.problem], s.width, s.feed_forward, s.heads, s.action_layers, s.state_layers,
                   s.decoder_layers, tuple(s.view[:s.views]), s.invariant, s.canonical_frame, s.parameters,
                   json.loads(lab.invit_model_metadata(model._handle) or b"{}"))


def save(model: Model, path: PathLike, store: str = "f32") -> None:
    """Writes weights as safetensors. store: "f32", or "f16" and "bf16", which take half the space."""
    if not os.fspath(path).endswith(".safetensors"):
        raise InvitError(f"{os.fspath(path)}: models are written as safetensors; name the file MODEL.safetensors")
    call("invit_model_save_as", model._handle, os.fsencode(path), _choose("store", store, STORAGE))


def import_checkpoint(path: PathLike, output: Optional[PathLike] = None, *, heads: int = 8,
                      views: Optional[Sequence[int]] = None, problem: Optional[str] = None, invariance: bool = True,
                      store: str = "f32") -> Model:
    """A model from a PyTorch checkpoint of the authors' layout; nothing in the file is executed.

    Widths, layers, number of views and the problem are read off the shapes; shapes do not show the attention heads and the
    neighbours in each view (15, 35, 50, 75 as far as there are views): give them where they differ.
    output: write the model to this file (.safetensors) too.  problem: refuse a model of the other one.
    invariance=False: a model that was trained without the invariant layer.
    """
    options, out = lab.invit_import_defaults(), c.c_void_p()
    options.heads = _whole("heads", heads, 1, 1024)
    options.without_invariance = not invariance
    if problem is not None:
        options.problem = _choose("problem", problem, PROBLEMS)
    if views is not None:
        if not 1 <= len(views) <= MOST_VIEWS:
            raise InvitError(f"views: expected 1 to {MOST_VIEWS} numbers of neighbours, not {len(views)}")
        options.views = len(views)
        options.view[:len(views)] = [_whole("views", k, 1, 10**6) for k in views]
    call("invit_model_import", os.fsencode(path), c.byref(options), c.byref(out))
    model = Model._adopt(out)
    if output is not None:
        save(model, output, store)
        model.path = os.fspath(output)
    return model


# ---- training ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TrainOption:
    """An option of train(). `only_for`: where it counts, "" everywhere."""
    name: str
    value: str
    default: str
    help: str
    only_for: str


def _train_rows() -> List[Tuple[str, str, str, str]]:
    rows, row = [], TrainOptionRow()
    index = 0
    while lab.invit_train_option(index, c.byref(row)):
        if not row.hidden:
            rows.append((row.key.decode(), row.value.decode(), row.help.decode(), (row.only_for or b"").decode()))
        index += 1
    return rows


def _train_get(options: TrainOptions, key: str) -> str:
    text = c.create_string_buffer(1100)
    call("invit_train_get", c.byref(options), key.encode(), text, len(text))
    return text.value.decode("utf-8", "replace")


def train_options(problem: str = "tsp", method: str = "imitate") -> List[TrainOption]:
    """The options of train(), the same as those of `invit train`, with the defaults for a problem and a method.

        >>> import invit
        >>> [option.default for option in invit.lab.train_options("tsp") if option.name == "views"]
        ['15,35']
    """
    options = TrainOptions()
    lab.invit_train_defaults(_choose("problem", problem, PROBLEMS), _choose("method", method, METHODS), c.byref(options))
    return [TrainOption(key.replace("-", "_"), value, _train_get(options, key), text, only_for)
            for key, value, text, only_for in _train_rows() if key not in ("problem", "method")]


@dataclass(frozen=True)
class Training:
    """How a run stands. The gaps are the means of the last validation, None before there was one: `small_gap` on 100
    nodes, `large_gap` on 1,000 (CVRP: 500 customers). finished=False: it was stopped; train(resume=run) goes on."""
    run: str
    steps: int
    states: int
    seconds: float
    loss: Optional[float]
    accuracy: Optional[float]
    small_gap: Optional[float]
    large_gap: Optional[float]
    finished: bool

    @property
    def path(self) -> str:
        """The file of the best weights so far."""
        return os.path.join(self.run, "best.safetensors")

    @property
    def model(self) -> Model:
        """The best weights so far."""
        return Model(self.path)

    def log(self) -> List[Dict[str, Any]]:
        """The lines of the run's log: steps with their loss and accuracy, validations with their gaps."""
        with open(os.path.join(self.run, "log.jsonl"), encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.strip()]


def train(problem: Optional[str] = None, run: Optional[PathLike] = None, *, resume: Optional[PathLike] = None,
          method: str = "imitate", minutes: Optional[float] = None, steps: Optional[int] = None,
          threads: Optional[int] = None, config: Optional[PathLike] = None, progress: Watcher = None,
          **options: Any) -> Training:
    """Trains a model for "tsp" or "cvrp" and returns how the run ended; its weights are in `.model` and `.path`.

    run: a new folder for configuration, log, checkpoint and best weights.
    resume: go on with the run in this folder, bit for bit as if it had not stopped; only minutes, steps and threads may be
    given anew.
    method: "imitate" (near-optimal tours that a search makes on the fly) or "reinforce".
    minutes, steps: when to stop; steps count if both are given.  config: a file of `key = value` lines.
    **options: what train_options() lists, as in init="tsp-2v", views="15,35", data="uniform:50", lr=1e-4.
    progress: True shows a line on standard error. Or it is called now and then with a Progress; returning False stops
    after the current step, with a checkpoint. So does Ctrl-C, with KeyboardInterrupt.
    """
    settings, given = TrainOptions(), {"minutes": minutes, "steps": steps, "threads": threads, **options}
    given = {name: value for name, value in given.items() if value is not None}
    if resume is not None:
        more = [name for name in options if options[name] is not None] + [
            name for name, value in (("problem", problem), ("run", run), ("config", config)) if value is not None]
        if more:
            raise InvitError(f"{more[0]} cannot change in a resumed run (minutes, steps and threads can)")
        call("invit_train_load", os.fsencode(resume), c.byref(settings))
    else:
        if problem is None or run is None:
            raise InvitError("expected a problem, tsp or cvrp, and the folder of the run: train('tsp', 'runs/tsp')")
        lab.invit_train_defaults(_choose("problem", problem, PROBLEMS), _choose("method", method, METHODS),
                                 c.byref(settings))
        if config is not None:
            call("invit_train_read_config", c.byref(settings), os.fsencode(config))
        call("invit_train_set", c.byref(settings), b"run", os.fsencode(run))
    _set_train_options(settings, given)
    if minutes is not None and steps is None:
        settings.steps = 0
    settings.command = _train_command(settings, given, resume)[:1023]
    result = TrainResult()
    _run(lambda control: call("invit_train", c.byref(settings), resume is not None, c.byref(control), c.byref(result)),
         progress)

    def known(value: float) -> Optional[float]:
        return None if math.isnan(value) else value

    return Training(settings.run.decode("utf-8", "replace"), result.steps, result.states, result.seconds,
                    known(result.loss), known(result.accuracy), known(result.small_gap), known(result.large_gap),
                    result.finished)


def _set_train_options(settings: TrainOptions, given: Dict[str, Any]) -> None:
    rows = {key.replace("-", "_"): (key, only_for) for key, _, _, only_for in _train_rows() if key not in ("problem", "run")}
    for name, value in given.items():
        if name not in rows:
            raise InvitError(f"train() has no option {name!r}: expected one of {', '.join(rows)}")
        key, only_for = rows[name]
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else _bool_text(value)
        before = _train_get(settings, key)
        call("invit_train_set", c.byref(settings), key.encode(), text.encode())
        if not lab.invit_train_option_counts(c.byref(settings), key.encode()) and _train_get(settings, key) != before:
            warnings.warn(f"{name}={value!r} changes nothing in this run; it is for {only_for}", stacklevel=3)


def _train_command(settings: TrainOptions, given: Dict[str, Any], resume: Optional[PathLike]) -> bytes:
    """The same on the command line, for the record."""
    run = settings.run.decode("utf-8", "replace")
    words = ["invit", "train"] + (["--resume", os.fspath(resume)] if resume is not None else [
        PROBLEMS[settings.problem], "--run", run, "--method", METHODS[settings.method]])
    for name in given:
        key = name.replace("_", "-")
        words += [f"--{key}", _train_get(settings, key)]
    return (shlex.join(words).replace("\n", " ") + " (from Python)").encode()


# ---- evaluation ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """One table of a Report: `rows` are dicts by column. `partial`: the evaluation was stopped before its end."""
    title: str
    note: str
    partial: bool
    rows: List[Dict[str, Any]]

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as missing:
            raise InvitError("to_frame() needs pandas; rows holds the same without it") from missing
        return pandas.DataFrame(self.rows)

    def _repr_html_(self) -> str:
        head = list(dict.fromkeys(name for row in self.rows for name in row))
        cells = [["" if row.get(name) is None else f"{row[name]:.6g}" if isinstance(row[name], float) else row[name]
                  for name in head] for row in self.rows]
        return f"<b>{self.title}</b>\n{table(head, cells)}\n<p>{self.note}</p>"


@dataclass(frozen=True, repr=False)
class Report:
    """Tables of results. str() is what `invit eval` prints. `failures`: instances that could not be solved."""
    tables: List[Table]
    failures: int
    texts: Dict[str, str]

    def __str__(self) -> str:
        return self.texts["text"]

    def __repr__(self) -> str:
        return f"<invit.lab.Report: {', '.join(table.title for table in self.tables)}>"

    def to_markdown(self) -> str:
        return self.texts["markdown"]

    def to_csv(self) -> str:
        return self.texts["csv"]

    @property
    def partial(self) -> bool:
        return any(table.partial for table in self.tables)

    def _repr_html_(self) -> str:
        return "\n".join(table._repr_html_() for table in self.tables)


def _report(handle: c.c_void_p, failures: int) -> Report:
    texts = {}
    for name, format in TABLES.items():
        text = c.c_void_p()
        call("invit_report_render", handle, format, c.byref(text))
        try:
            texts[name] = c.string_at(text.value or 0).decode("utf-8", "replace")
        finally:
            free(text)
    tables = [Table(t.get("title") or "", t.get("note") or "", bool(t.get("partial")), _counts(t["rows"]))
              for t in json.loads(texts.pop("json"))]
    return Report(tables, failures, texts)


def _counts(rows: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Columns of whole numbers as integers: the library writes every number as a decimal."""
    names = dict.fromkeys(name for row in rows for name in row)
    whole = {name for name in names
             if all(isinstance(row.get(name), float) and row[name].is_integer() for row in rows)}
    return [{name: int(value) if name in whole else value for name, value in row.items()} for row in rows]


def _models(given: Any, problems: Sequence[str]) -> Dict[str, Model]:
    """By problem: those given, or the bundled ones."""
    if given is None:
        return {problem: Model(problem=problem) for problem in problems}
    found: Dict[str, Model] = {}
    for one in given if isinstance(given, (list, tuple)) else [given]:
        model = one if isinstance(one, Model) else Model(one)
        if model.problem in found:
            raise InvitError(f"two models for {model.problem}: expected one for each problem")
        found[model.problem] = model
    return found


_FLAGS = ("references_only", "paper_length", "resume", "baselines", "rules", "peak", "instances")
_TEXTS = ("dir", "references", "best_known", "results", "against", "label")


def evaluate(what: Union[str, PathLike, Sequence[PathLike]] = "msvdrp", model: Any = None, *,
             sets: Optional[Sequence[str]] = None, distributions: Optional[Sequence[str]] = None, limit: int = 0,
             dir: PathLike = "msvdrp", data_seed: int = 1, reference_seconds: float = 0, reference_effort: float = 1,
             references_only: bool = False, references: Optional[PathLike] = None,
             best_known: Optional[PathLike] = None, paper_length: bool = False, results: Optional[PathLike] = None,
             resume: bool = False, baselines: bool = False, rules: bool = False, peak: bool = False,
             instances: bool = False, against: Optional[str] = None, label: Optional[str] = None,
             solvers: Optional[Dict[str, str]] = None, times: Optional[Sequence[float]] = None, threads: int = 0,
             progress: Watcher = None, **options: Any) -> Report:
    """Measures a model or a way of solving, as `invit eval`: the gaps to near-optimal or best-known lengths, and times.

    what: "msvdrp", the paper's generated sets; or files and folders of TSPLIB and CVRPLIB instances.
    model: a Model, its file or name, or two of them, one per problem; the bundled ones if not given.
    msvdrp: sets, as in ["tsp-100", "cvrp-50"]; distributions, as in ["uniform"]; dir: where sets and references are kept;
    a full run takes hours, limit=N takes N instances of each set; reference_effort=0.01 makes them fast, and
    references="RESULTS.csv" takes those of an earlier run.
    files: best_known, a CSV file; solvers={"name": "command {instance} {solution}"}, times=[1, 10].
    results: a CSV file that keeps each instance's outcome; resume=True skips what it holds.
    **options: how to solve, as in solve(): rollouts, time, construct, decode, ...; without time and iterations the policy
    constructs and nothing is improved.
    progress: as in train(). Stopped by returning False, the Report holds what is finished; Ctrl-C raises.
    """
    texts = _option_texts({"time": None if "iterations" in options else 0, **options})
    files = None if what == "msvdrp" else [what] if isinstance(what, (str, os.PathLike)) else list(what)
    o: EvalOptions = lab.invit_eval_defaults()
    names = [lab.invit_eval_set_name(i).decode() for i in range(SETS)]
    chosen = names if sets is None else [names[_choose("sets", name, names)] for name in sets]
    models: Dict[str, Model] = {}
    if texts.get("construct", "invit") == "invit" and not references_only:
        models = _models(model, PROBLEMS if files is not None else sorted({name.partition("-")[0] for name in chosen}))
        if sets is None and model is not None:
            chosen = [name for name in names if name.partition("-")[0] in models]
    for i, name in enumerate(names):
        o.set[i] = name in chosen
    for i, name in enumerate(DISTRIBUTIONS):
        o.distribution[i] = distributions is None or name in [DISTRIBUTIONS[_choose("distributions", d, DISTRIBUTIONS)]
                                                              for d in distributions]
    for i, problem in enumerate(PROBLEMS):
        o.model[i] = models[problem]._handle if problem in models else None
    given = locals()
    for name in _FLAGS:
        setattr(o, name, bool(given[name]))
    for name in _TEXTS:
        setattr(o, name, None if given[name] is None else os.fsencode(given[name]))
    o.limit, o.data_seed = _whole("limit", limit, 0, _INT32), _whole("data_seed", data_seed, 0, _UINT64)
    o.reference_seconds, o.reference_effort = float(reference_seconds), float(reference_effort)
    o.threads = _whole("threads", threads, 0, 4096)
    commands = [f"{name}={command}".encode() for name, command in (solvers or {}).items()]
    o.solvers, o.solver_count = (c.c_char_p * max(1, len(commands)))(*commands), len(commands)
    o.times, o.time_count = (c.c_double * max(1, len(times or ())))(*(times or ())), len(times or ())
    return _run(lambda control: _evaluate(o, files, texts, control), progress)


def _evaluate(o: EvalOptions, files: Optional[List[PathLike]], texts: Dict[str, str], control: Control) -> Report:
    out, failures = c.c_void_p(), c.c_int32()
    try:
        try:
            with solver_options(texts) as handle:
                o.solve, o.control = handle, c.pointer(control)
                if files is None:
                    call("invit_eval_msvdrp", c.byref(o), c.byref(out), c.byref(failures))
                else:
                    paths = (c.c_char_p * max(1, len(files)))(*(os.fsencode(path) for path in files))
                    call("invit_eval_files", c.byref(o), paths, len(files), c.byref(out), c.byref(failures))
        except InvitError as error:
            if error.status != STATUS_CANCELLED or not out:
                raise
        return _report(out, failures.value)
    finally:
        lab.invit_report_destroy(out)
