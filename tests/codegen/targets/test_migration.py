"""The entries that the manual makes of classes are those that are proved and emitted."""

from __future__ import annotations

import re

from tests.codegen.targets.counts import MANUAL
from tests.codegen.targets.test_emit import EXAMPLE


def test_entries_of_the_manual_are_those_of_the_example() -> None:
    """The example is proved, and what is emitted of it is fresh, by tests of its own."""
    _, _, section = MANUAL.read_text(encoding="utf-8").partition("## From an `autograd.Function`")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    spec = (EXAMPLE / "ops.yaml").read_text(encoding="utf-8")
    names = [re.match(r"- name: (\w+)", block) for block in blocks]
    found = [match[1] for match in names if match]
    assert found == ["logit_softcap", "swiglu", "scaled_rms_norm", "rotary_embedding"]
    assert all(block in spec for block in blocks)
