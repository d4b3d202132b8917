"""The policy at work: one decision after the other, with the probabilities it had to choose from."""

from __future__ import annotations

import ctypes as c
import os
from dataclasses import dataclass, field
from typing import Any, Iterator, List, Optional, Union

from ._background import Background
from ._instance import _UINT64, Instance, _whole
from ._library import STEP_FN, Control, InvitError, call, lib, solver_options
from ._model import Model
from ._picture import COLOURS, Map

AHEAD = 64  # decisions that the policy may be ahead of the loop


@dataclass(frozen=True, repr=False)
class Decision:
    """One decision of a rollout: from `last` the policy goes to `chosen`, one of `candidates`, whose `probabilities` add
    up to 1. The candidates are the unvisited nodes nearest to `last`, by distance; vehicle routing: the depot, 0, comes
    last, with probability 0 where it may not be chosen. `further` are the nodes that the policy sees beside them."""
    step: int
    last: int
    candidates: List[int]
    probabilities: List[float]
    chosen: int
    further: List[int]
    count: int
    instance: Instance = field(compare=False)
    _order: List[int] = field(compare=False)

    @property
    def visited(self) -> List[int]:
        """The nodes so far in their order; vehicle routing: with 0 for each return to the depot."""
        return self._order[:self.count]

    @property
    def probability(self) -> float:
        """Of the one that was chosen."""
        return self.probabilities[self.candidates.index(self.chosen)]

    @property
    def rank(self) -> int:
        """Of the one that was chosen among the candidates by distance: 0 is the nearest."""
        return self.candidates.index(self.chosen)

    def __repr__(self) -> str:
        return (f"<invit.Decision {self.step}: {self.last} to {self.chosen}, probability {self.probability:.3f}, "
                f"candidates {len(self.candidates)}>")

    def _repr_svg_(self) -> Optional[str]:
        """The tour so far, what the policy sees, and its candidates: the larger and darker, the more probable."""
        instance = self.instance
        if not instance.get("has_coords") or len(instance) > 20000:
            return None
        picture = Map(instance, repr(self)[1:-1])
        for node in range(len(instance)) if len(instance) <= 2000 else ():
            picture.dot(node, 1.5, more=' fill="#bbb"')
        for node in self.further:
            picture.dot(node, 2.5, more=' fill="#8ab"')
        vehicles = instance.problem == "cvrp"
        picture.line([0] * vehicles + self.visited, COLOURS[0])
        picture.line([self.last, self.chosen], COLOURS[1], ' stroke-dasharray="4 3"')
        for node, p in zip(self.candidates, self.probabilities):
            picture.dot(node, 3 + 6 * p ** 0.5, f"{node}: {100 * p:.1f} %",
                        f' fill="{COLOURS[1]}" fill-opacity="{0.15 + 0.85 * p:.2f}"')
        if vehicles:
            picture.depot()
        picture.dot(self.last, 4, more=' fill="#000"')
        return str(picture)


def decisions(instance: Any, model: Optional[Union[Model, str, "os.PathLike[str]"]] = None, *, seed: int = 1,
              decode: str = "greedy", temperature: Optional[float] = None) -> Iterator[Decision]:
    """Watches the policy construct one solution: yields each Decision as it is made. Leaving the loop stops the policy.

    instance: an Instance, or what Instance() takes: coordinates or a table. It may have a capacity, but no other rules,
    since the policy does not know them.  model: as in solve().
    decode: "greedy" takes the most probable candidate, "sample" draws one, at `temperature`.

        >>> import invit
        >>> square = [(0, 0), (0, 1), (1, 1), (1, 0)]
        >>> for d in invit.decisions(square):
        ...     print(d.step, len(d.visited), len(d.candidates), abs(sum(d.probabilities) - 1) < 1e-4)
        0 1 3 True
        1 2 2 True
        2 3 1 True
    """
    if not isinstance(instance, Instance):
        instance = Instance(instance)
    if not instance.get("plain"):
        raise InvitError("the policy decides without rules: expected an instance with coordinates, and a capacity at most")
    if decode not in ("greedy", "sample"):
        raise InvitError(f"decode must be one of greedy, sample, not {decode!r}")
    if model is None:
        model = Model(problem=instance.problem)
    elif not isinstance(model, Model):
        model = Model(model)
    texts = {"rollouts": "1", "time": "0", "threads": "1", "construct": "invit", "decode": decode,
             "seed": str(_whole("seed", seed, 0, _UINT64))}
    if temperature is not None:
        texts["temperature"] = repr(float(temperature))
    return _watch(instance, model, texts)


def _watch(instance: Instance, model: Model, texts: Any) -> Iterator[Decision]:
    order: List[int] = []
    vehicles = instance.problem == "cvrp"

    def work(background: Background) -> None:
        def on_step(_user: Any, told: Any) -> None:
            s = told.contents
            order.extend(s.order[len(order):s.visited])
            candidates, further = s.neighbour[:s.action], s.neighbour[s.action:s.action + s.further]
            background.report(Decision(s.step, s.last, candidates + [0] * vehicles, s.probability[:s.action + vehicles],
                                       s.chosen, further, s.visited, instance, order))

        control, step = Control(cancel=c.pointer(background.cancel)), STEP_FN(on_step)
        out = c.c_void_p()
        try:
            with solver_options(texts) as handle:
                lib.invit_options_set_control(handle, c.byref(control))
                lib.invit_options_set_step(handle, step, None)
                call("invit_solve", instance._handle, model._handle, handle, c.byref(out))
        finally:
            lib.invit_solution_destroy(out)

    return iter(Background(work, AHEAD))
