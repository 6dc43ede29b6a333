"""Names that generated modules use, besides those of ops: an op of such a name gets another."""

from __future__ import annotations

import re

from ..spec.own_kernels import MODULE

RUNTIME_NAMES = {
    "gradspec.dispatch.absent": ("add_present", "or_zero", "subtract_present", "zeros_if_absent"),
    "gradspec.dispatch.unbroadcast": ("reduce_to_differentiable",),
    "gradspec.kernels.reductions.unbroadcast": ("reduce_to",),
    "gradspec.dispatch.dispatch": (
        "all_tensors",
        "any_grad_node",
        "dispatch",
        "by_argument",
        "grad_nodes_of",
        "spread",
        "in_floats",
        "lift_number",
    ),
    "gradspec.dispatch.op_errors": (
        "complex_gradient",
        "complex_refused",
        "failure",
        "must_be_constant",
        "no_derivative",
        "no_forward_mode",
        "unmet_requirement",
    ),
    "gradspec.dtypes.kinds": ("any_symbolic",),
    "gradspec.core.numel": ("numel",),
    "gradspec.core.lazy": ("LazyModule",),
    "gradspec.fast.log_sums": ("log_of_sum",),
    "gradspec.core.apply_modes": ("apply_modes",),
    "gradspec.core.modes": ("current_mode", "is_recording"),
    "gradspec.core.node": ("Node", "OutputNode", "next_sequence_nr", "saves"),
    "gradspec.core.numpy_warnings": ("mute",),
    "gradspec.dispatch.overloads": ("overloaded",),
    "gradspec.fast.powers": ("power",),
    "gradspec.dtypes.promotion": (
        "FIRST_COMPLEX",
        "LAST_COMPLEX",
        "LAST_INTEGER",
        "any_complex",
        "is_complex",
        "promote",
        "promote_to_float",
    ),
    "gradspec.dispatch.numbers_given": (
        "flag_refused",
        "number_given",
        "real_given",
        "whole_numbers_given",
    ),
    "gradspec.dtypes.whole_numbers": ("whole_number",),
    "gradspec.dispatch.registry": ("Op", "ops", "register"),
    "gradspec.inplace.keywords": ("with_further", "write_out"),
    "gradspec.dispatch.named_results": ("Result",),
    "gradspec.graph.saved_values": (
        "arrays_of",
        "attach_outputs",
        "check_version",
        "check_versions",
        "shape_dtype",
        "materialize",
        "materialize_tensors",
        "meta_tensors",
        "output_of",
        "versions",
    ),
    "gradspec.core.tensor": ("Tensor", "new_tensor", "share_alias", "share_alias_with_all", "wrap"),
    "gradspec.core.types": ("DTypeLike", "Number"),
}
"""Names of the runtime that generated code may need."""

RUNTIME_MODULES = {
    "constants": "from gradspec.core import constants",
    "kernels": "from gradspec import kernels",
    "sp": "from gradspec.fast import scipy_special as sp",
    MODULE: f"from . import {MODULE}",
}

MODULE_NAMES = frozenset(
    (
        *(name for names in RUNTIME_NAMES.values() for name in names),
        *RUNTIME_MODULES,
        *("asanyarray", "ndarray", "annotations", "register", "globals", "type", "map", "object"),
        *("len", "tuple", "float", "int", "str", "bool"),
        *("array", "error", "flags", "grad", "grads", "is_cast", "lifted", "needs"),
        *("node", "out", "result", "axis", "keepdims"),
    )
)
"""All names that generated modules use, or functions in them."""

TAKEN = "op"
"""The suffix, after two underscores, of an op's name that a module has another use for."""

_OF_MODULES = re.compile(r"(np|array)_\w+|\w+_ops|\w*(Backward|Result)\w*|[A-Z]\w*")
"""The names of functions, classes and constants that generated modules make."""


def is_taken(name: str) -> bool:
    """Return whether a generated module has another use for the name of an op."""
    return name in MODULE_NAMES or bool(_OF_MODULES.fullmatch(name))
