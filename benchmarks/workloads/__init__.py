"""All workloads, in the order of the table."""

from __future__ import annotations

from ..workload import Workload
from . import (
    chain,
    empty_call,
    gaussian_process,
    hvp,
    lenet,
    logistic,
    long_chain,
    mlp,
    per_sample,
    rosenbrock,
    runge_kutta,
    transformer,
)

_FILES = (
    *(chain, mlp, lenet, transformer, rosenbrock, logistic, hvp, runge_kutta),
    *(per_sample, gaussian_process, long_chain),
    empty_call,
)

WORKLOADS = {workload.name: workload for file in _FILES for workload in file.WORKLOADS}
"""By name, at the sizes that are measured."""
SIZES = {workload.name: workload for workload in chain.SIZES}
"""One computation at growing sizes."""
SMALL = {workload.name: workload for file in _FILES for workload in file.SMALL}
"""The same kinds at sizes at which a test can compare all libraries."""


def with_data(name: str) -> Workload:
    """A workload of any size, ready to be prepared. KeyError if there is none."""
    workload = (SMALL | SIZES | WORKLOADS)[name]
    workload.create_data()
    return workload
