"""Parts of tensors that definitions give names to, and lengths that a display fixes."""

from __future__ import annotations

from pathlib import Path

from tests.codegen.differentiate.test_derive import filled, rules_of


def entry(signature: str, forward: str, *more: str) -> str:
    body = "".join(f"    {line}\n" for line in forward.splitlines())
    return "\n".join((f"- name: {signature}", f"  forward: |\n{body}", *more, ""))


def test_chunks_are_parts_that_make_up_the_whole(tmp_path: Path) -> None:
    """Their gradients are joined whether or not the last part is as long as the others."""
    forward = "a, b, c = chunk(self, 3, -1)\nreturn a * b + tanh(c)"
    rules = rules_of(filled(entry("thirds(Tensor self) -> Tensor", forward), tmp_path))
    assert rules["self"].startswith("length = (self.shape[-1] + 2) // 3\n")
    assert "cat((" in rules["self"]
    assert "slice_backward" not in rules["self"]


def test_parts_of_a_length_that_may_be_negative_are_not_joined(tmp_path: Path) -> None:
    forward = "return self[:n] * self[n:2 * n] + self[2 * n:]"
    rules = rules_of(filled(entry("thirds(Tensor self, int n) -> Tensor", forward), tmp_path))
    assert "slice_backward" in rules["self"]


def test_transforms_have_the_names_of_their_namespace(tmp_path: Path) -> None:
    """No number of zeros is left of a list that is repeated no times."""
    text = entry("moved(Tensor self) -> Tensor", "return fft_irfft(self, 4)", "  complex: true")
    rules = rules_of(filled(text, tmp_path))
    padded = "constant_pad_nd(self_t, (0, 4 // 2 + 1 - self_p.shape[-1]))"
    assert rules["result"] == f"_fft_c2r({padded}, (-1,), 2, 4)"
