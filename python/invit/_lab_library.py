"""The lab's shared library as ctypes sees it: structures and prototypes of invit_lab.h, and nothing else."""

from __future__ import annotations

import ctypes as c
import os
from typing import Any

from ._library import PATH, PROBLEMS, Control, Error, declare, find
from ._library import call as call_in

METHODS = ("imitate", "reinforce")
STORAGE = ("f32", "f16", "bf16")
TABLES = {"text": 0, "markdown": 1, "csv": 2, "json": 3}
SETS, MOST_VIEWS = 7, 9


class ImportOptions(c.Structure):
    _fields_ = [("heads", c.c_int32), ("views", c.c_int32), ("view", c.c_int32 * MOST_VIEWS), ("problem", c.c_int),
                ("without_invariance", c.c_bool)]


class Summary(c.Structure):
    _fields_ = [("problem", c.c_int), ("width", c.c_int32), ("feed_forward", c.c_int32), ("heads", c.c_int32),
                ("action_layers", c.c_int32), ("state_layers", c.c_int32), ("decoder_layers", c.c_int32),
                ("views", c.c_int32), ("view", c.c_int32 * MOST_VIEWS), ("invariant", c.c_bool),
                ("canonical_frame", c.c_bool), ("parameters", c.c_int64), ("tensors", c.c_int32)]


class TrainOptions(c.Structure):
    _fields_ = [("problem", c.c_int), ("method", c.c_int), ("run", c.c_char * 1024), ("init", c.c_char * 1024),
                ("minutes", c.c_double), ("steps", c.c_int64), ("seed", c.c_uint64), ("threads", c.c_int64),
                ("exact", c.c_bool), ("views", c.c_char * 64), ("dim", c.c_int64), ("ff", c.c_int64),
                ("heads", c.c_int64), ("action_layers", c.c_int64), ("state_layers", c.c_int64),
                ("decoder_layers", c.c_int64), ("invariant", c.c_bool), ("canonical_frame", c.c_bool),
                ("data", c.c_char * 512), ("capacity", c.c_char * 32), ("demand_max", c.c_int64),
                ("like_library", c.c_double), ("labels", c.c_char * 1024), ("distill", c.c_char * 1024),
                ("effort", c.c_double), ("share", c.c_double), ("walks", c.c_int64), ("replay_buffer", c.c_int64),
                ("rollin", c.c_double), ("q_regret", c.c_double), ("min_p", c.c_double), ("batch", c.c_int64),
                ("lanes", c.c_int64), ("lr", c.c_double), ("lr_final", c.c_double), ("warmup", c.c_int64),
                ("schedule", c.c_char * 16), ("decay", c.c_double), ("clip", c.c_double),
                ("weight_decay", c.c_double), ("beta1", c.c_double), ("beta2", c.c_double), ("epsilon", c.c_double),
                ("ema", c.c_double), ("augment", c.c_int64), ("baseline", c.c_char * 16), ("relative", c.c_bool),
                ("gae_lambda", c.c_double), ("reuse", c.c_int64), ("epoch", c.c_int64), ("compare", c.c_int64),
                ("margin", c.c_double), ("validations", c.c_int64), ("validate_small", c.c_int64),
                ("validate_large", c.c_int64), ("checkpoint", c.c_double), ("log_every", c.c_int64),
                ("command", c.c_char * 1024)]


class TrainOptionRow(c.Structure):
    _fields_ = [("key", c.c_char_p), ("value", c.c_char_p), ("help", c.c_char_p), ("group", c.c_char_p),
                ("only_for", c.c_char_p), ("hidden", c.c_bool)]


class TrainResult(c.Structure):
    _fields_ = [("steps", c.c_int64), ("states", c.c_int64), ("seconds", c.c_double), ("loss", c.c_double),
                ("accuracy", c.c_double), ("small_gap", c.c_double), ("large_gap", c.c_double),
                ("finished", c.c_bool), ("rank", c.c_int)]


class EvalOptions(c.Structure):
    _fields_ = [("model", c.c_void_p * 2), ("solve", c.c_void_p), ("set", c.c_bool * SETS),
                ("distribution", c.c_bool * 4), ("dir", c.c_char_p), ("limit", c.c_int32), ("data_seed", c.c_uint64),
                ("reference_seconds", c.c_double), ("reference_effort", c.c_double), ("references_only", c.c_bool),
                ("references", c.c_char_p), ("best_known", c.c_char_p), ("paper_length", c.c_bool),
                ("results", c.c_char_p), ("resume", c.c_bool), ("baselines", c.c_bool),
                ("rules", c.c_bool), ("peak", c.c_bool), ("instances", c.c_bool),
                ("against", c.c_char_p), ("label", c.c_char_p), ("solvers", c.POINTER(c.c_char_p)),
                ("solver_count", c.c_int32), ("times", c.POINTER(c.c_double)), ("time_count", c.c_int32),
                ("threads", c.c_int), ("control", c.POINTER(Control))]


# by the names of invit_lab.h, for the test that compares them with the header
STRUCTURES = {"invit_import_options": ImportOptions, "invit_model_summary": Summary,
              "invit_train_options": TrainOptions, "invit_option_info": TrainOptionRow,
              "invit_train_result": TrainResult, "invit_eval_options": EvalOptions}

_P, _OUT, _ERR = c.c_void_p, c.POINTER(c.c_void_p), c.POINTER(Error)
_TRAIN, _EVAL = c.POINTER(TrainOptions), c.POINTER(EvalOptions)

_PROTOTYPES = {
    "invit_model_save_as": (c.c_int, [_P, c.c_char_p, c.c_int, _ERR]),
    "invit_import_defaults": (ImportOptions, []),
    "invit_model_import": (c.c_int, [c.c_char_p, c.POINTER(ImportOptions), _OUT, _ERR]),
    "invit_model_describe": (Summary, [_P]),
    "invit_model_metadata": (c.c_char_p, [_P]),
    "invit_train_defaults": (None, [c.c_int, c.c_int, _TRAIN]),
    "invit_train_option": (c.c_bool, [c.c_int, c.POINTER(TrainOptionRow)]),
    "invit_train_option_counts": (c.c_bool, [_TRAIN, c.c_char_p]),
    "invit_train_set": (c.c_int, [_TRAIN, c.c_char_p, c.c_char_p, _ERR]),
    "invit_train_get": (c.c_int, [_TRAIN, c.c_char_p, c.c_char_p, c.c_size_t, _ERR]),
    "invit_train_read_config": (c.c_int, [_TRAIN, c.c_char_p, _ERR]),
    "invit_train": (c.c_int, [_TRAIN, c.c_bool, c.POINTER(Control), c.POINTER(TrainResult), _ERR]),
    "invit_train_load": (c.c_int, [c.c_char_p, _TRAIN, _ERR]),
    "invit_report_render": (c.c_int, [_P, c.c_int, _OUT, _ERR]),
    "invit_report_destroy": (None, [_P]),
    "invit_eval_defaults": (EvalOptions, []),
    "invit_eval_set_name": (c.c_char_p, [c.c_int]),
    "invit_eval_msvdrp": (c.c_int, [_EVAL, _OUT, c.POINTER(c.c_int32), _ERR]),
    "invit_eval_files": (c.c_int, [_EVAL, c.POINTER(c.c_char_p), c.c_int32, _OUT, c.POINTER(c.c_int32), _ERR]),
}


def _load() -> Any:
    path = os.environ.get("INVIT_LAB_LIBRARY") or find("invit-lab", beside=PATH if os.sep in PATH else None)
    if not path:
        raise ImportError("invit.lab needs libinvit-lab.so, which was not found: build it (make), install it, or name it "
                          "in $INVIT_LAB_LIBRARY. Solving works without it")
    try:
        library = c.CDLL(path)
    except OSError as error:
        raise ImportError(f"invit.lab needs {path}, which does not load: {error}. It uses cairo and libzip (Debian: "
                          "apt-get install libcairo2 libzip4). Solving works without it") from None
    declare(library, _PROTOTYPES)
    return library


lab = _load()


def call(name: str, *arguments: object) -> None:
    """As in _library, of the lab."""
    call_in(name, *arguments, library=lab)


__all__ = ["PROBLEMS", "call", "lab"]
