"""The shared library as ctypes sees it: structures and prototypes of invit.h, and nothing else."""

from __future__ import annotations

import ctypes as c
import ctypes.util
import os
from pathlib import Path

STATUS_OK = 0
PROBLEMS = ("tsp", "cvrp")
METRICS = ("exact", "euc_2d", "ceil_2d", "att", "geo", "haversine", "dimacs")
DISTRIBUTIONS = ("uniform", "clustered", "explosion", "implosion")
CONSTRUCTIONS = ("invit", "nearest", "greedy", "space-filling", "savings", "start", "insertion")


class InvitError(Exception):
    """What the library could not do; the message is the library's own."""


class Error(c.Structure):
    _fields_ = [("code", c.c_int), ("message", c.c_char * 1024)]


class Progress(c.Structure):
    _fields_ = [("stage", c.c_char_p), ("elapsed", c.c_double), ("fraction", c.c_double), ("best", c.c_double),
                ("count", c.c_int64), ("message", c.c_char_p)]


PROGRESS_FN = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Progress))
BETTER_FN = c.CFUNCTYPE(None, c.c_void_p, c.c_double, c.c_double, c.c_void_p)


class Control(c.Structure):
    _fields_ = [("progress", PROGRESS_FN), ("user", c.c_void_p), ("cancel", c.POINTER(c.c_int))]


class GenerateOptions(c.Structure):
    _fields_ = [("capacity", c.c_int64), ("demand_min", c.c_int32), ("demand_max", c.c_int32), ("like_library", c.c_bool)]


class CheckResult(c.Structure):
    _fields_ = [("feasible", c.c_bool), ("length", c.c_double), ("length_exact", c.c_double), ("routes", c.c_int32),
                ("message", c.c_char * 256)]


class Stop(c.Structure):
    _fields_ = [("node", c.c_int32), ("leg", c.c_double), ("distance", c.c_double), ("load", c.c_double),
                ("arrival", c.c_double), ("waiting", c.c_double), ("departure", c.c_double)]


def _find() -> str:
    here = Path(__file__).resolve().parent
    named = os.environ.get("INVIT_LIBRARY")
    if named:
        return named
    for place in (here, here.parents[1] / "build"):
        found = sorted(place.glob("libinvit.so*"))
        if found:
            return str(found[0])
    found = ctypes.util.find_library("invit")
    if found:
        return found
    raise ImportError("libinvit.so was not found: build it (make), install it, or name it in $INVIT_LIBRARY")


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
    "invit_reader_set_capacity": (None, [_P, c.c_int64]),
    "invit_reader_next": (c.c_int, [_P, _OUT, _ERR]),
    "invit_reader_close": (None, [_P]),
    "invit_solution_create": (c.c_int, [_INT32S, _INT32S, c.c_int32, _OUT, _ERR]),
    "invit_solution_destroy": (None, [_P]),
    "invit_solution_routes": (c.c_int32, [_P]),
    "invit_solution_route": (_INT32S, [_P, c.c_int32, _INT32S]),
    "invit_generate_with": (c.c_int, [c.c_int, c.c_int, c.c_int64, c.c_uint64, c.c_uint64,
                                      c.POINTER(GenerateOptions), _OUT, _ERR]),
    "invit_model_load": (c.c_int, [c.c_char_p, _OUT, _ERR]),
    "invit_model_load_default": (c.c_int, [c.c_int, _OUT, _ERR]),
    "invit_model_destroy": (None, [_P]),
    "invit_options_create": (_P, []),
    "invit_options_destroy": (None, [_P]),
    "invit_options_set": (c.c_int, [_P, c.c_char_p, c.c_char_p, _ERR]),
    "invit_options_set_control": (None, [_P, c.POINTER(Control)]),
    "invit_options_set_better": (None, [_P, BETTER_FN, _P, c.c_bool]),
    "invit_solve": (c.c_int, [_P, _P, _P, _OUT, _ERR]),
    "invit_solution_get": (c.c_double, [_P, c.c_char_p]),
    "invit_check": (c.c_int, [_P, _P, c.POINTER(CheckResult), _ERR]),
}

lib = c.CDLL(_find())  # ctypes releases the GIL around every call
for _name, (_result, _arguments) in _PROTOTYPES.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = _result, _arguments


def call(name: str, *arguments: object) -> None:
    """Calls a function whose last parameter is an invit_error and turns a failure into an exception."""
    err = Error()
    status = getattr(lib, name)(*arguments, c.byref(err))
    if status != STATUS_OK:
        raise InvitError(err.message.decode("utf-8", "replace") or f"{name} failed with status {status}")
