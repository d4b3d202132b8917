"""Weights of the policy."""

from __future__ import annotations

import ctypes as c
import os
from pathlib import Path
from typing import Any, Optional, Union

from ._instance import _choose
from ._library import PROBLEMS, InvitError, call, lib

MODELS = Path(__file__).resolve().parent / "models"  # of a wheel


class Model:
    """Weights: a safetensors file or the name of bundled ones ("tsp-2v"), or without either the default for a
    problem ("tsp" or "cvrp")."""

    def __init__(self, path: Optional[Union[str, "os.PathLike[str]"]] = None, problem: str = "tsp") -> None:
        out = c.c_void_p()
        if not os.environ.get("INVIT_MODELS"):
            name = f"{PROBLEMS[_choose('problem', problem, PROBLEMS)]}-2v" if path is None else os.fspath(path)
            own = MODELS / f"{name}.safetensors"
            if own.exists():
                path = own
        if path is None:
            call("invit_model_load_default", _choose("problem", problem, PROBLEMS), c.byref(out))
        else:
            call("invit_model_load", os.fsencode(path), c.byref(out))
        self.path = None if path is None else os.fspath(path)
        self._handle = out

    @classmethod
    def _adopt(cls, handle: c.c_void_p, path: Optional[str] = None) -> "Model":
        self = cls.__new__(cls)
        self._handle, self.path = handle, path
        return self

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.invit_model_destroy(self._handle)

    @property
    def problem(self) -> str:
        """ "tsp" or "cvrp"."""
        return PROBLEMS[lib.invit_model_problem(self._handle)]

    def __repr__(self) -> str:
        return f"<invit.Model {os.path.basename(self.path) if self.path else 'in memory'!r}: {self.problem}>"

    def __reduce__(self) -> Any:
        if self.path is None:
            raise InvitError("a model without a file cannot be pickled: write it with invit.lab.save()")
        return Model, (self.path,)
