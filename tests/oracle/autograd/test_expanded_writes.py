"""Writes through views of expanded tensors, which NumPy makes read-only."""

import pytest

from tests.oracle.behaviours import assert_same

pytestmark = pytest.mark.oracle

WRITES = (
    "T.view_as_real(z)[1].expand(2)[0].mul_(3)",
    "T.view_as_real(z)[1:].squeeze().expand(3)[2].sin_()",
    "z.imag.expand(2)[0].copy_(5)",
    "z.real.expand(2, 1)[0].fill_(5)",
    "z.expand(2)[1].mul_(2j)",
    "w.real.expand(2, 2, 3)[1].mul_(3)",
    "w.t().imag.expand(2, 3, 2)[0].add_(1)",
    "w.imag[0].expand(2, 3)[1].zero_()",
    "T.view_as_complex(p).expand(2, 2)[0].mul_(1j)",
    "v.expand_as(v)[2:].mul_(0)",
    "v.expand(3, 2)[3:].add_(1)",
    "v.unsqueeze(0).expand(3, 2)[1].mul_(2)",
)


@pytest.mark.parametrize("write", WRITES)
def test_the_elements_that_are_shown_are_written_to(torch, write):
    def behaviour(lib):
        tensors = {
            "z": lib.tensor(1 + 2j),
            "w": lib.tensor([[1 + 2j, 3 - 1j, 0.5j], [2, 1j, -1 - 1j]]),
            "p": lib.tensor([[1.0, 2.0], [3.0, 4.0]]),
            "v": lib.tensor([1.0, 2.0]),
        }
        eval(write, {"T": lib} | tensors)
        return {name: lib.view_as_real(x) if x.is_complex() else x for name, x in tensors.items()}

    assert_same(behaviour, torch)
