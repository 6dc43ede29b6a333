"""Lazy modules: the number of their inputs is that of the first input they see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..core.tensor import Tensor
from .layers import BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, Conv3d
from .linear import Linear
from .module import Module
from .normalization.modules import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .parameter import UninitializedBuffer, UninitializedParameter, set_array
from .transposed import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d


class LazyModule(Module):
    """Base of lazy modules, which become modules of `cls_to_become` at their first call.

    Until then their parameters and buffers have no shape. They stay the same objects, so that an
    optimizer may have been given them; a state may be loaded before.
    """

    cls_to_become: ClassVar[Any]
    size_name: ClassVar[str]
    """The first argument of that class, which is inferred."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super(Module, self).__init__()
        groups = kwargs.get("groups", 1)
        template = self.cls_to_become(groups, *args, **kwargs)
        vars(self).update(vars(template))
        vars(self)[self.size_name] = 0
        self._arguments = args, kwargs
        for name, param in self._parameters.items():
            if param is not None:
                self._parameters[name] = UninitializedParameter(dtype=param.dtype)
        for name, buffer in self._buffers.items():
            if buffer is not None and buffer.ndim:
                self._buffers[name] = UninitializedBuffer(dtype=buffer.dtype)

    def has_uninitialized_params(self) -> bool:
        """Return whether a parameter or buffer has no shape yet."""
        members = (*self._parameters.values(), *self._buffers.values())
        return any(_has_no_shape(member) for member in members)

    def size_of(self, input: Tensor) -> int:
        """Return the size that an input shows."""
        raise NotImplementedError(f"{type(self).__name__} does not define size_of")

    def reset_parameters(self) -> None:
        """Do nothing: there are no values yet."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Become a module that is not lazy, and call it."""
        self._become(args[0] if args else kwargs["input"])
        return self.forward(*args, **kwargs)

    def _become(self, input: Tensor) -> None:
        args, kwargs = self._arguments
        made = self.cls_to_become(self.size_of(input), *args, **kwargs)
        for own, members in (
            (self._parameters, made._parameters),
            (self._buffers, made._buffers),
        ):
            for name, member in members.items():
                target = own[name]
                if target is not None and member is not None and _has_no_shape(target):
                    set_array(target, member.array.astype(target.dtype))
                    target._is_parameter = target._is_parameter.settled  # type: ignore[attr-defined]
        vars(self)[self.size_name] = vars(made)[self.size_name]
        del self._arguments
        self.__class__ = self.cls_to_become

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *rest: Any) -> None:
        for members in (self._parameters, self._buffers):
            for name, target in members.items():
                source = state_dict.get(prefix + name)
                if target is None or not isinstance(source, Tensor):
                    continue
                if _has_no_shape(target) and not _has_no_shape(source):
                    set_array(target, source.array.astype(target.dtype))
                    target._is_parameter = target._is_parameter.settled  # type: ignore[attr-defined]
        super()._load_from_state_dict(state_dict, prefix, *rest)


def _has_no_shape(member: Any) -> bool:
    return isinstance(member, UninitializedParameter | UninitializedBuffer)


class LazyLinear(LazyModule, Linear):
    """Linear map of which `in_features` is inferred: `LazyLinear(out_features, bias)`."""

    cls_to_become = Linear
    size_name = "in_features"

    def size_of(self, input: Tensor) -> int:
        """Return the length of the last dimension."""
        return input.shape[-1]


class _LazyConv(LazyModule):
    """Base of lazy convolutions: `LazyConv2d(out_channels, kernel_size, ...)`."""

    size_name = "in_channels"
    spatial: int

    def size_of(self, input: Tensor) -> int:
        """Return the number of channels of an input with or without batch."""
        if input.ndim not in (self.spatial + 1, self.spatial + 2):
            raise RuntimeError(
                f"Expected {self.spatial + 1}D (unbatched) or {self.spatial + 2}D (batched) input "
                f"to {type(self).__name__}, but got input of size: {input.shape}"
            )
        return input.shape[-self.spatial - 1]


class _LazyNorm(LazyModule):
    """Base of lazy normalisations: `LazyBatchNorm2d(eps, momentum, ...)`."""

    size_name = "num_features"
    ndims: Any

    def size_of(self, input: Tensor) -> int:
        """Return the number of channels."""
        if input.ndim not in self.ndims:
            raise ValueError(f"expected {self.ndims} dimensions of input (got {input.ndim}D input)")
        return input.shape[1]


class _LazyInstanceNorm(_LazyNorm):
    """Base of lazy instance normalisations, affine and with running statistics by default."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(eps, momentum, affine, track_running_stats, device, dtype)

    def size_of(self, input: Tensor) -> int:
        """Return the number of channels of an input with or without batch."""
        count = super().size_of(input)
        return count if input.ndim == self.ndims[-1] else input.shape[0]


class LazyConv1d(_LazyConv, Conv1d):
    """Convolution over one dimension, of which `in_channels` is inferred."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """Convolution over two dimensions, of which `in_channels` is inferred."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """Convolution over three dimensions, of which `in_channels` is inferred."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):
    """Transposed convolution over one dimension, of which `in_channels` is inferred."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):
    """Transposed convolution over two dimensions, of which `in_channels` is inferred."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):
    """Transposed convolution over three dimensions, of which `in_channels` is inferred."""

    cls_to_become = ConvTranspose3d


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """Batch normalisation of which `num_features` is inferred."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """Batch normalisation of images, of which `num_features` is inferred."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """Batch normalisation of volumes, of which `num_features` is inferred."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """Instance normalisation of which `num_features` is inferred."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """Instance normalisation of images, of which `num_features` is inferred."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """Instance normalisation of volumes, of which `num_features` is inferred."""

    cls_to_become = InstanceNorm3d
