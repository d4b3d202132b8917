"""Instances: from arrays, tables, files and generators."""

from __future__ import annotations

import csv
import ctypes as c
import datetime
import io
import json
import math
import numbers
import os
import warnings
from collections.abc import Mapping
from typing import Any, Dict, List, Optional, Sequence, Union

from ._library import DISTRIBUTIONS, METRICS, PROBLEMS, GenerateOptions, InvitError, call, free, lib

Coords = Union[Sequence[Sequence[float]], Any]  # nested sequences or a NumPy array of shape (n, 2)


def _choose(what: str, value: str, names: Sequence[str]) -> int:
    if value not in names:
        raise InvitError(f"{what} must be one of {', '.join(names)}, not {value!r}")
    return names.index(value)


def _array(values: Any, kind: Any, count: int, what: str = "") -> Any:
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
        raise InvitError(f"{what + ': ' if what else ''}expected {count} numbers, got {len(flat)}")
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


def _is_table(data: Any) -> bool:
    """Columns with names: a DataFrame, a dict of columns, or a list of dicts."""
    if isinstance(data, Mapping) or (hasattr(data, "columns") and hasattr(data, "__getitem__")):
        return True
    return isinstance(data, (list, tuple)) and len(data) > 0 and isinstance(data[0], Mapping)


def _columns_of(table: Any) -> Dict[str, List[Any]]:
    """The columns of a table as lists. Points of a GeoDataFrame become lon,lat, or x,y where its CRS is projected."""
    if isinstance(table, (list, tuple)):
        names = dict.fromkeys(name for row in table for name in row)
        return {str(name): [row.get(name) for row in table] for name in names}
    if isinstance(table, Mapping):
        columns = {str(name): list(values) for name, values in table.items()}
    else:
        columns = {}
        geometry = getattr(table, "geometry", None) if hasattr(table, "crs") else None
        if geometry is not None:
            globe = table.crs is not None and table.crs.is_geographic
            columns = {"lon" if globe else "x": list(geometry.x), "lat" if globe else "y": list(geometry.y)}
        skipped = getattr(geometry, "name", None)
        columns.update({str(name): list(table[name]) for name in table.columns
                        if name != skipped and str(name) not in columns})
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise InvitError(f"the columns of a table must have the same length, not {sorted(lengths)}")
    return columns


_LABELS = ("id", "name", "label")  # columns that name the nodes


def _index_labels(table: Any, columns: Dict[str, List[Any]]) -> Optional[List[str]]:
    """A DataFrame's index, if it has a name or texts, for a table without a column of names."""
    index = getattr(table, "index", None)
    if callable(index) or index is None or any(name.strip().lower() in _LABELS for name in columns):
        return None
    if getattr(index, "name", None) is None and not any(isinstance(value, str) for value in index):
        return None
    return [_field(value) for value in index]


def _is_matrix(table: Any) -> bool:
    """A DataFrame of distances: as many columns as rows, by the same names."""
    index = getattr(table, "index", None)
    return not callable(index) and index is not None and list(index) == list(table.columns)


def _bare(values: Any) -> Any:
    """What pandas wraps, as the array inside; others as they are."""
    return values.to_numpy() if hasattr(values, "to_numpy") else values


def _field(value: Any) -> str:
    """A value of a table as text; what pandas has for missing ones (None, NaN, NaT, NA) is empty."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, (datetime.time, datetime.datetime)):
        return value.strftime("%H:%M")
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(int(value) if value.is_integer() and abs(value) < 1e15 else value)
    return str(value)


def _warn(note: str, level: int, durations: bool = False) -> None:
    """Warns of what the reader remarked; of assumed travel times only where there are no others."""
    notes = [line.replace("--", "") for line in note.splitlines() if not (line.startswith("travel times") and durations)]
    if notes:
        warnings.warn("; ".join(notes), stacklevel=level)


_INSTANCE_FORMATS = {".json": 6, ".tsp": 0, ".atsp": 0, ".vrp": 0, ".txt": 1}  # invit_format


class Instance:
    """A problem: coordinates, a table or a matrix of distances, and what routes must keep. Where there are demands,
    windows, limits or vehicles, node 0 is the depot.

    coords: n rows x, y; or a table with named columns (a pandas DataFrame, a GeoDataFrame of points, a dict of columns,
    a list of dicts): x,y or lat,lon, and if wanted id, demand, capacity, service, open, close, vehicles, max_length, ...
    as in CSV files. lat,lon are measured in metres.
    labels: a name for each node, or a table's column of names; else a DataFrame's index, if it has a name or texts.

    distances, durations: n rows of n numbers, from row to column, symmetric or not.
    demands, capacity; time_windows: n pairs (earliest, latest) of the start of service, None for no limit, "8:30" for
    minutes; service: time at each stop, or one for all; vehicles: at most so many routes, or "fewest".
    open: routes end at their last stop. start_node, end_node: a path through all nodes, without vehicles.
    max_length, max_duration, max_stops: of a route. speed: distance per unit of time (km/h with metric "haversine").
    freeze: beginnings of routes that stay, lists of nodes; of a tour one list.
    """

    def __init__(self, coords: Optional[Coords] = None, demands: Optional[Sequence[float]] = None,
                 capacity: Optional[float] = None, metric: Optional[str] = None, name: str = "unnamed", *,
                 distances: Any = None, durations: Any = None, time_windows: Any = None, service: Any = None,
                 vehicles: Optional[Union[int, str]] = None, open: bool = False, start_node: Optional[int] = None,
                 end_node: Optional[int] = None, max_length: Optional[float] = None,
                 max_duration: Optional[Union[float, str]] = None, max_stops: Optional[int] = None,
                 speed: Optional[float] = None, labels: Optional[Union[str, Sequence[str]]] = None,
                 freeze: Optional[Sequence[Any]] = None) -> None:
        values = {"open": "yes" if open else None, "start_node": start_node, "end_node": end_node, "vehicles": vehicles,
                  "max_length": max_length, "max_duration": max_duration, "max_stops": max_stops, "speed": speed}
        if hasattr(coords, "__next__") or isinstance(coords, (zip, map)):
            coords = list(coords)
        demands, distances, durations, time_windows, service = map(
            _bare, (demands, distances, durations, time_windows, service))
        if coords is not None and _is_table(coords) and not isinstance(coords, (Mapping, list, tuple)) and _is_matrix(coords):
            labels = list(coords.index) if labels is None else labels
            coords = _bare(coords)
        if coords is not None and _is_table(coords):
            self._from_table(coords, capacity, name, metric, labels, values,
                             {"demands": demands, "distances": distances, "durations": durations,
                              "time_windows": time_windows, "service": service})
            self._set_freeze(freeze)
            return
        kind, out = _choose("metric", metric or "exact", METRICS), c.c_void_p()
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
            call("invit_instance_create_cvrp", _array(coords, c.c_double, 2 * n), _array(demands, c.c_int64, n, "demands"), n,
                 _whole("capacity", capacity, 1, _INT32), kind, c.byref(out))
        else:
            call("invit_instance_create_tsp", _array(coords, c.c_double, 2 * n), n, kind, c.byref(out))
        self._handle = out
        call("invit_instance_set_name", out, name.encode())
        self._set_matrices(None if coords is None else distances, durations)
        if capacity is not None and not (whole and coords is not None):
            call("invit_instance_set", out, b"capacity", repr(float(capacity)).encode())
            call("invit_instance_set_array", out, b"demands", _array(demands, c.c_double, n, "demands"), n)
        self._set_times(service, time_windows)
        self._set_values(values)
        if labels is not None:
            self._set_labels(labels)
        self._set_freeze(freeze)

    def _set_freeze(self, freeze: Optional[Sequence[Any]]) -> None:
        """For each node the one directly before it; for a first stop the depot, of a tour the node itself."""
        if freeze is None:
            return
        routes = [list(route) if hasattr(route, "__iter__") else route for route in freeze]
        if routes and not any(isinstance(route, list) for route in routes):
            routes = [routes]
        n, tour = len(self), self.problem == "tsp"
        before = [math.nan] * n
        for route in routes:
            if not isinstance(route, list):
                raise InvitError("freeze: expected lists of nodes")
            for i, node in enumerate(route):
                node = _whole("freeze", node, 0, n - 1)
                if not math.isnan(before[node]):
                    raise InvitError(f"freeze: node {node} is named twice")
                before[node] = route[i - 1] if i > 0 else node if tour else 0
        call("invit_instance_set_array", self._handle, b"freeze", _array(before, c.c_double, n), n)

    def _set_matrices(self, distances: Any, durations: Any) -> None:
        n = len(self)
        for what, matrix in (("distances", distances), ("durations", durations)):
            if matrix is not None:
                call("invit_instance_set_matrix", self._handle, what.encode(), _array(matrix, c.c_double, n * n), n)

    def _set_times(self, service: Any, time_windows: Any) -> None:
        n = len(self)
        if isinstance(service, numbers.Real):
            service = [0.0] + [float(service)] * (n - 1)
        if service is not None:
            times = [_clock(s) for s in service]
            call("invit_instance_set_array", self._handle, b"service", _array(times, c.c_double, n, "service"), n)
        if time_windows is not None:
            if len(time_windows) != n or _columns(time_windows) != 2:
                raise InvitError(f"time_windows must be {n} pairs, one per node")
            pairs = [_clock(time) for pair in time_windows for time in pair]
            call("invit_instance_set_array", self._handle, b"time_windows", _array(pairs, c.c_double, 2 * n), 2 * n)

    def _set_values(self, values: Dict[str, Any]) -> None:
        for key, value in values.items():
            if value is not None:
                call("invit_instance_set", self._handle, key.encode(), str(value).encode())

    def _set_labels(self, labels: Sequence[Any]) -> None:
        if isinstance(labels, str):
            raise InvitError("labels: only a table has a column to name; expected one text per node")
        if len(labels) != len(self):
            raise InvitError(f"labels: expected one per node, {len(self)}, not {len(labels)}")
        if any("\0" in str(label) for label in labels):
            raise InvitError("labels: a name has a character 0")
        texts = (c.c_char_p * len(self))(*(str(label).encode() for label in labels))
        call("invit_instance_set_labels", self._handle, texts)

    def _from_table(self, table: Any, capacity: Any, name: str, metric: Optional[str], labels: Any,
                    values: Dict[str, Any], arrays: Dict[str, Any]) -> None:
        """As the library reads CSV, so that names and meanings of columns are the same everywhere."""
        columns = _columns_of(table)
        n = max((len(column) for column in columns.values()), default=0)
        if n == 0:
            raise InvitError("expected a table with nodes: it has no rows")
        if isinstance(labels, str):
            if labels not in columns:
                raise InvitError(f"labels: the table has no column {labels!r}, but {', '.join(columns)}")
            labels = [_field(value) for value in columns[labels]]
        labels = labels if labels is not None else _index_labels(table, columns)
        for what, own in (("demands", "demand"), ("service", "service")):
            given = arrays[what]
            if given is None:
                continue
            if what == "service" and isinstance(given, numbers.Real):
                given = [0.0] + [given] * (n - 1)
            if len(given) != n:
                raise InvitError(f"{what}: expected one per row, {n}, not {len(given)}")
            columns[own] = list(given)
        if capacity is not None:
            columns["capacity"] = [capacity] + [None] * (n - 1)
        if values["speed"] is not None:
            columns["speed"] = [values["speed"]] + [None] * (n - 1)
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(columns)
        rows.writerows([_field(value) for value in row] for row in zip(*columns.values()))
        data, reader, out = text.getvalue().encode(), c.c_void_p(), c.c_void_p()
        call("invit_reader_open_memory", data, len(data), b"table", c.byref(reader))
        try:
            call("invit_reader_next", reader, c.byref(out))
            note = lib.invit_reader_note(reader).decode("utf-8", "replace")
        finally:
            lib.invit_reader_close(reader)
        self._handle = out
        _warn(note, 5, arrays["durations"] is not None)
        call("invit_instance_set_name", out, name.encode())
        if metric is not None:
            call("invit_instance_set_metric", out, _choose("metric", metric, METRICS))
        for what in ("distances", "durations"):
            if arrays[what] is not None and (len(arrays[what]) != n or _columns(arrays[what]) != n):
                raise InvitError(f"{what} must be a square matrix of {n} rows, one per node")
        self._set_matrices(arrays["distances"], arrays["durations"])
        self._set_times(None, arrays["time_windows"])
        self._set_values(values)
        if labels is not None:
            self._set_labels(labels)

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
        """x, y of each node (haversine: longitude, latitude); empty for an instance of distances alone."""
        if not self.get("has_coords"):
            return []
        xy = lib.invit_instance_coords(self._handle)[:2 * len(self)]
        return [list(pair) for pair in zip(xy[::2], xy[1::2])]

    @property
    def demands(self) -> Optional[List[float]]:
        demand, scale = lib.invit_instance_demands(self._handle), self.get("demand_scale")
        if not demand:
            return None
        whole = demand[:len(self)]
        return whole if scale == 1 else [d / scale for d in whole]

    @property
    def capacity(self) -> Optional[float]:
        if self.problem != "cvrp":
            return None
        return int(lib.invit_instance_capacity(self._handle)) if self.get("demand_scale") == 1 else self.get("capacity")

    @property
    def labels(self) -> Optional[List[str]]:
        """What the nodes are called (a table's id or name), None when they have no names."""
        texts = [lib.invit_instance_label(self._handle, i) for i in range(len(self))]
        if not any(texts):
            return None
        return [(text or b"").decode("utf-8", "replace") for text in texts]

    def get(self, name: str) -> Optional[float]:
        """The value of max_length, vehicles, speed and the like, None when there is none."""
        value = lib.invit_instance_get(self._handle, name.encode())
        return None if math.isnan(value) else value

    def array(self, name: str) -> Optional[List[float]]:
        """service, earliest, latest (one number per node), distances or durations (row by row); None when there is none."""
        values, n = lib.invit_instance_array(self._handle, name.encode()), len(self)
        return values[:n * n if name in ("distances", "durations") else n] if values else None

    @property
    def table(self) -> Optional[Dict[str, Any]]:
        """What comes through to lists of stops: a dict of `columns`, `rows` and `dialect`; None without a table."""
        text, size = c.c_void_p(), c.c_size_t()
        call("invit_instance_table", self._handle, c.byref(text), c.byref(size))
        try:
            return json.loads(c.string_at(text.value, size.value)) if text.value else None
        finally:
            free(text)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the problem; the format follows from the name: .json (says everything), .tsp, .atsp, .vrp (TSPLIB,
        VRPLIB), .txt (MSVDRP)."""
        suffix, writer = os.path.splitext(os.fspath(path))[1].lower(), c.c_void_p()
        if suffix not in _INSTANCE_FORMATS:
            raise InvitError(f"{os.fspath(path)}: expected a name that ends in {', '.join(_INSTANCE_FORMATS)}")
        call("invit_writer_open", os.fsencode(path), c.byref(writer))
        try:
            call("invit_writer_instance", writer, self._handle, _INSTANCE_FORMATS[suffix])
        except BaseException:
            lib.invit_writer_abandon(writer)
            raise
        call("invit_writer_close", writer)

    # ---- pickling: everything that can be asked for, so that instances of files and generators are the same ----

    def __getstate__(self) -> Dict[str, Any]:
        n, cvrp = len(self), self.problem == "cvrp"
        xy = lib.invit_instance_coords(self._handle)[:2 * n] if self.get("has_coords") else None
        names = ("start_node", "end_node", "max_stops", "vehicles", "max_length", "max_duration", "speed")
        found = {name: self.get(name) for name in names} if not self.get("plain") else {}
        values = {name: int(value) if value == int(value) else repr(value)
                  for name, value in found.items() if value is not None}
        values.update({name: "yes" for name in ("open", "clock") if self.get(name)})
        arrays = {name: self.array(name) for name in ("service", "earliest", "latest", "distances", "durations", "freeze")}
        return {"name": self.name, "metric": self.metric, "labels": self.labels, "xy": xy, "n": n, "table": self.table,
                "demands": self.demands if cvrp and self.get("capacity") is not None else None,
                "capacity": self.capacity, "values": values, "fewest": bool(self.get("fewest")),
                "arrays": {name: values for name, values in arrays.items() if values is not None}}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        out, n, arrays = c.c_void_p(), state["n"], dict(state["arrays"])
        if state["xy"] is None:
            call("invit_instance_create_matrix", _array(arrays.pop("distances"), c.c_double, n * n), n, c.byref(out))
        else:
            xy, metric = _array(state["xy"], c.c_double, 2 * n), METRICS.index(state["metric"])
            plain = not state["values"] and not arrays and not state["fewest"] and state["demands"] is not None
            if plain and isinstance(state["capacity"], int):
                call("invit_instance_create_cvrp", xy, _array(state["demands"], c.c_int64, n), n, state["capacity"],
                     metric, c.byref(out))
                state = {**state, "demands": None}
            else:
                call("invit_instance_create_tsp", xy, n, metric, c.byref(out))
        self._handle = out
        call("invit_instance_set_name", out, state["name"].encode())
        if state["demands"] is not None and any(state["demands"][1:]):
            call("invit_instance_set", out, b"capacity", repr(float(state["capacity"])).encode())
            call("invit_instance_set_array", out, b"demands", _array(state["demands"], c.c_double, n), n)
        for name in ("distances", "durations"):
            if name in arrays:
                call("invit_instance_set_matrix", out, name.encode(), _array(arrays.pop(name), c.c_double, n * n), n)
        freeze = arrays.pop("freeze", None)
        for name, values in arrays.items():
            values = [value if math.isfinite(value) else math.nan for value in values]  # no limit
            call("invit_instance_set_array", out, name.encode(), _array(values, c.c_double, n), n)
        self._set_values(state["values"])
        if state["fewest"]:
            self._set_values({"vehicles": "fewest"})
        if state["labels"]:
            self._set_labels(state["labels"])
        if freeze:
            call("invit_instance_set_array", out, b"freeze", _array(freeze, c.c_double, n), n)
        if state.get("table"):
            call("invit_instance_set", out, b"table", json.dumps(state["table"]).encode())


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
    """Instance `index` of a file in any format the library knows (TSPLIB, CVRPLIB, Solomon, MSVDRP, lists, CSV, JSON,
    .npy). What of a table is not used or looks wrong is a warning.

    capacity: the vehicles', for a CSV table with demands that does not name one."""
    index, out = _whole("index", index, 0, _INT64), c.c_void_p()
    if index != 0:
        if capacity is not None:
            raise InvitError("capacity is for a table, which holds one instance: leave index out")
        call("invit_instance_read", os.fsencode(path), index, c.byref(out))
        return Instance._adopt(out)
    reader = c.c_void_p()
    call("invit_reader_open", os.fsencode(path), c.byref(reader))
    try:
        if capacity is not None:
            lib.invit_reader_set_capacity(reader, _whole("capacity", capacity, 1, _INT32))
        call("invit_reader_next", reader, c.byref(out))
        note = lib.invit_reader_note(reader).decode("utf-8", "replace")
    finally:
        lib.invit_reader_close(reader)
    if not out.value:
        raise InvitError(f"{os.fspath(path)}: there is no instance in it")
    _warn(note, 3)
    return Instance._adopt(out)
