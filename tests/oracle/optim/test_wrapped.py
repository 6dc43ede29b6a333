"""Optimizers of one's own that wrap another one, and never call the base's `__init__`."""

from __future__ import annotations

from typing import Any

import pytest

from ..behaviours import assert_same

pytestmark = pytest.mark.oracle


def test_lookahead(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        class Lookahead(library.optim.Optimizer):  # type: ignore[misc, name-defined]
            def __init__(self, base: Any) -> None:
                self.base, self.param_groups, self.count = base, base.param_groups, 0
                self.slow = [p.detach().clone() for p in self.param_groups[0]["params"]]

            def step(self, closure: Any = None) -> Any:
                loss = self.base.step(closure)
                self.count += 1
                if self.count % 2 == 0:
                    for fast, slow in zip(self.param_groups[0]["params"], self.slow, strict=True):
                        slow += 0.5 * (fast.data - slow)
                        fast.data.copy_(slow)
                return loss

        w = library.tensor([1.0, -2.0], requires_grad=True)
        optimizer = Lookahead(library.optim.SGD([w], lr=0.2, momentum=0.5))
        scheduler = library.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
        losses = []
        for _ in range(5):

            def closure() -> Any:
                optimizer.base.zero_grad()
                loss = (w**2).sum()
                loss.backward()
                return loss

            losses.append(optimizer.step(closure).item())
            scheduler.step()
        return [losses, w.detach(), scheduler.get_last_lr()]

    assert_same(behaviour, torch)
