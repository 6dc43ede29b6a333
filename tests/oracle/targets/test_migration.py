"""The classes in the manual and the ops that replace them have the same gradients."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

import pytest
import torch

from tests.codegen.targets.counts import MANUAL
from tests.codegen.targets.test_emit import EXAMPLE

pytestmark = pytest.mark.oracle


def test_classes_of_the_manual(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, section = MANUAL.read_text(encoding="utf-8").partition("## From an `autograd.Function`")
    names: dict[str, Any] = {"torch": torch}
    for block in re.findall(r"^```py\n(.*?)^```$", section, re.MULTILINE | re.DOTALL):
        exec(block, names)  # the text of our own manual
    monkeypatch.setattr(sys, "path", [str(EXAMPLE), *sys.path])
    ops = importlib.import_module("torch_ops")
    rng = torch.Generator().manual_seed(1)
    x, gate = (torch.randn(3, 4, dtype=torch.float64, generator=rng) for _ in range(2))
    weight, angles = gate[0], gate[0, :2]
    for class_name, op, tensors, plain in (
        ("Softcap", ops.logit_softcap, (x,), (2.0,)),
        ("SwiGLU", ops.swiglu, (x, gate), ()),
        ("RMSNorm", ops.scaled_rms_norm, (x, weight), (0.5,)),
        ("Rotary", ops.rotary_embedding, (x,), (angles.cos(), angles.sin())),
    ):
        answers = []
        for function in (names[class_name].apply, op):
            leaves = [tensor.clone().requires_grad_() for tensor in tensors]
            out = function(*leaves, *plain)
            answers.append((out, *torch.autograd.grad(out.sin().sum(), leaves)))
        torch.testing.assert_close(*answers)
