"""The shared library as ctypes sees it: structures and prototypes of invit.h, and nothing else."""

from __future__ import annotations

import contextlib
import ctypes as c
import ctypes.util
import os
import shutil
from pathlib import Path
from typing import Any, Dict, Iterator, Optional

STATUS_OK = 0
PROBLEMS = ("tsp", "cvrp")
METRICS = ("exact", "euc_2d", "ceil_2d", "att", "geo", "haversine", "dimacs")
DISTRIBUTIONS = ("uniform", "clustered", "explosion", "implosion")
CONSTRUCTIONS = ("invit", "nearest", "greedy", "space-filling", "savings", "start", "insertion")


STATUS_IO, STATUS_CANCELLED = 4, 6
SOLUTION_FORMATS = {"tour": 0, "routes": 1, "msvdrp": 2, "geojson": 3, "stops": 4, "summary": 5, "gpx": 6, "kml": 7, "sheets": 8}


class InvitError(Exception):
    """What the library could not do; the message is the library's own. `status`: its invit_status, 0 when the package
    refused before the library was asked."""
    status = 0


class Error(c.Structure):
    _fields_ = [("code", c.c_int), ("message", c.c_char * 1024)]


class Progress(c.Structure):
    _fields_ = [("stage", c.c_char_p), ("elapsed", c.c_double), ("fraction", c.c_double), ("best", c.c_double),
                ("count", c.c_int64), ("message", c.c_char_p)]


PROGRESS_FN = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Progress))
BETTER_FN = c.CFUNCTYPE(None, c.c_void_p, c.c_double, c.c_double, c.c_void_p)


class Control(c.Structure):
    _fields_ = [("progress", PROGRESS_FN), ("user", c.c_void_p), ("cancel", c.POINTER(c.c_int)),
                ("reserved", c.c_void_p * 4)]


class GenerateOptions(c.Structure):
    _fields_ = [("capacity", c.c_int64), ("demand_min", c.c_int32), ("demand_max", c.c_int32),
                ("like_library", c.c_bool), ("route_size", c.c_double), ("reserved", c.c_double * 8)]


class CheckResult(c.Structure):
    _fields_ = [("feasible", c.c_bool), ("length", c.c_double), ("length_exact", c.c_double), ("routes", c.c_int32),
                ("message", c.c_char * 256), ("reserved", c.c_double * 8)]


class Stop(c.Structure):
    _fields_ = [("node", c.c_int32), ("leg", c.c_double), ("distance", c.c_double), ("load", c.c_double),
                ("arrival", c.c_double), ("waiting", c.c_double), ("departure", c.c_double),
                ("reserved", c.c_double * 3)]


class SolutionInfo(c.Structure):
    _fields_ = [("length", c.c_double), ("seconds", c.c_double), ("route", c.c_double), ("reserved", c.c_double * 5)]


class OptionRow(c.Structure):
    _fields_ = [("name", c.c_char_p), ("letter", c.c_char), ("type", c.c_char_p), ("choices", c.c_char_p),
                ("min", c.c_double), ("max", c.c_double), ("metavar", c.c_char_p), ("fallback", c.c_char_p),
                ("help", c.c_char_p), ("value", c.c_char * 64)]


class Step(c.Structure):
    _fields_ = [("step", c.c_int64), ("order", c.POINTER(c.c_int32)), ("visited", c.c_int32), ("last", c.c_int32),
                ("first", c.c_int32), ("neighbour", c.POINTER(c.c_int32)), ("action", c.c_int32),
                ("further", c.c_int32), ("probability", c.POINTER(c.c_float)), ("chosen", c.c_int32)]


STEP_FN = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Step))

# by the names of invit.h, for the test that compares them with the header
STRUCTURES = {"invit_error": Error, "invit_progress": Progress, "invit_control": Control,
              "invit_generate_options": GenerateOptions, "invit_check_result": CheckResult, "invit_stop": Stop,
              "invit_solution_info": SolutionInfo, "invit_option": OptionRow, "invit_step": Step}


def find(name: str, beside: Optional[str] = None) -> Optional[str]:
    """A shared library: beside another one, in the package (a wheel), the build folder of the source tree, where the
    system's linker looks, and beside the program `invit` that the shell would run."""
    here = Path(__file__).resolve().parent
    for place in ([Path(beside).resolve().parent] if beside else []) + [here, here.parents[1] / "build"]:
        found = sorted(place.glob(f"lib{name}.so*"))
        if found:
            return str(found[0])
    found = ctypes.util.find_library(name)
    if found:
        return found
    program = shutil.which("invit")
    prefix = Path(program).resolve().parents[1] if program else here
    for place in ("lib", "lib64", "lib/*-linux-gnu*"):
        for path in sorted(prefix.glob(f"{place}/lib{name}.so*")):
            return str(path)
    return None


def _find() -> str:
    found = os.environ.get("INVIT_LIBRARY") or find("invit")
    if not found:
        raise ImportError("libinvit.so was not found: build it (make), install it, or name it in $INVIT_LIBRARY")
    return found


_P = c.c_void_p
_OUT = c.POINTER(c.c_void_p)
_ERR = c.POINTER(Error)
_DOUBLES, _INT64S, _INT32S = c.POINTER(c.c_double), c.POINTER(c.c_int64), c.POINTER(c.c_int32)

_PROTOTYPES = {
    "invit_version": (c.c_char_p, []),
    "invit_instance_create_tsp": (c.c_int, [_DOUBLES, c.c_int64, c.c_int, _OUT, _ERR]),
    "invit_instance_create_cvrp": (c.c_int, [_DOUBLES, _INT64S, c.c_int64, c.c_int64, c.c_int, _OUT, _ERR]),
    "invit_instance_create_matrix": (c.c_int, [_DOUBLES, c.c_int64, _OUT, _ERR]),
    "invit_instance_set": (c.c_int, [_P, c.c_char_p, c.c_char_p, _ERR]),
    "invit_instance_set_array": (c.c_int, [_P, c.c_char_p, _DOUBLES, c.c_int64, _ERR]),
    "invit_instance_set_matrix": (c.c_int, [_P, c.c_char_p, _DOUBLES, c.c_int64, _ERR]),
    "invit_instance_get": (c.c_double, [_P, c.c_char_p]),
    "invit_instance_array": (_DOUBLES, [_P, c.c_char_p]),
    "invit_instance_set_metric": (c.c_int, [_P, c.c_int, _ERR]),
    "invit_instance_label": (c.c_char_p, [_P, c.c_int64]),
    "invit_instance_set_labels": (c.c_int, [_P, c.POINTER(c.c_char_p), _ERR]),
    "invit_instance_table": (c.c_int, [_P, _OUT, c.POINTER(c.c_size_t), _ERR]),
    "invit_instance_validate": (c.c_int, [_P, _ERR]),
    "invit_schedule": (c.c_int32, [_P, _P, c.c_int32, c.POINTER(Stop)]),
    "invit_instance_destroy": (None, [_P]),
    "invit_instance_problem": (c.c_int, [_P]),
    "invit_instance_name": (c.c_char_p, [_P]),
    "invit_instance_set_name": (c.c_int, [_P, c.c_char_p, _ERR]),
    "invit_instance_nodes": (c.c_int64, [_P]),
    "invit_instance_metric": (c.c_int, [_P]),
    "invit_instance_coords": (_DOUBLES, [_P]),
    "invit_instance_demands": (_INT32S, [_P]),
    "invit_instance_capacity": (c.c_int64, [_P]),
    "invit_instance_read": (c.c_int, [c.c_char_p, c.c_int64, _OUT, _ERR]),
    "invit_reader_open": (c.c_int, [c.c_char_p, _OUT, _ERR]),
    "invit_reader_open_memory": (c.c_int, [c.c_char_p, c.c_size_t, c.c_char_p, _OUT, _ERR]),
    "invit_reader_note": (c.c_char_p, [_P]),
    "invit_reader_set_capacity": (None, [_P, c.c_int64]),
    "invit_reader_next": (c.c_int, [_P, _OUT, _ERR]),
    "invit_reader_close": (None, [_P]),
    "invit_solution_create": (c.c_int, [_INT32S, _INT32S, c.c_int32, _OUT, _ERR]),
    "invit_solution_destroy": (None, [_P]),
    "invit_solution_routes": (c.c_int32, [_P]),
    "invit_solution_route": (_INT32S, [_P, c.c_int32, _INT32S]),
    "invit_solution_reader_open": (c.c_int, [c.c_char_p, _OUT, _ERR]),
    "invit_solution_reader_next": (c.c_int, [_P, _P, _OUT, c.POINTER(SolutionInfo), _ERR]),
    "invit_solution_reader_close": (None, [_P]),
    "invit_writer_open": (c.c_int, [c.c_char_p, _OUT, _ERR]),
    "invit_writer_open_memory": (c.c_int, [_OUT, c.POINTER(c.c_size_t), _OUT, _ERR]),
    "invit_writer_instance": (c.c_int, [_P, _P, c.c_int, _ERR]),
    "invit_writer_solution": (c.c_int, [_P, _P, _P, c.c_int, c.POINTER(SolutionInfo), _ERR]),
    "invit_writer_close": (c.c_int, [_P, _ERR]),
    "invit_writer_abandon": (None, [_P]),
    "invit_generate_with": (c.c_int, [c.c_int, c.c_int, c.c_int64, c.c_uint64, c.c_uint64,
                                      c.POINTER(GenerateOptions), _OUT, _ERR]),
    "invit_model_load": (c.c_int, [c.c_char_p, _OUT, _ERR]),
    "invit_model_load_default": (c.c_int, [c.c_int, _OUT, _ERR]),
    "invit_model_destroy": (None, [_P]),
    "invit_model_problem": (c.c_int, [_P]),
    "invit_options_create": (_P, []),
    "invit_options_destroy": (None, [_P]),
    "invit_options_set": (c.c_int, [_P, c.c_char_p, c.c_char_p, _ERR]),
    "invit_options_row": (c.c_bool, [_P, c.c_int, c.POINTER(OptionRow), c.c_size_t]),
    "invit_options_set_start": (None, [_P, _P]),
    "invit_options_set_control": (None, [_P, c.POINTER(Control)]),
    "invit_options_set_better": (None, [_P, BETTER_FN, _P, c.c_bool]),
    "invit_options_set_step": (None, [_P, STEP_FN, _P]),
    "invit_solve": (c.c_int, [_P, _P, _P, _OUT, _ERR]),
    "invit_solution_get": (c.c_double, [_P, c.c_char_p]),
    "invit_check": (c.c_int, [_P, _P, c.POINTER(CheckResult), _ERR]),
}

for _needed in sorted(Path(__file__).resolve().parent.glob("libjansson.so*")):  # a wheel brings what the library needs
    c.CDLL(str(_needed), c.RTLD_GLOBAL)
PATH = _find()
lib = c.CDLL(PATH)  # ctypes releases the GIL around every call


def declare(library: Any, prototypes: Any) -> None:
    for name, (result, arguments) in prototypes.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


declare(lib, _PROTOTYPES)

_libc = c.CDLL(None)
_libc.free.restype, _libc.free.argtypes = None, [c.c_void_p]
free = _libc.free


@contextlib.contextmanager
def solver_options(texts: Dict[str, str]) -> Iterator[int]:
    """The solver's options, set by name; freed at the end."""
    handle = lib.invit_options_create()
    if not handle:
        raise MemoryError
    try:
        for name, text in texts.items():
            call("invit_options_set", handle, name.encode(), text.encode())
        yield handle
    finally:
        lib.invit_options_destroy(handle)


def call(name: str, *arguments: object, library: Any = lib) -> None:
    """Calls a function whose last parameter is an invit_error and turns a failure into an exception."""
    err = Error()
    status = getattr(library, name)(*arguments, c.byref(err))
    if status != STATUS_OK:
        error = InvitError(err.message.decode("utf-8", "replace") or f"{name} failed with status {status}")
        error.status = status
        raise error
