"""Lazy modules: the number of their inputs is that of the first input they see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..core.tensor import Tensor
from .layers import BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, Conv3d
from .linear import Linear
from .module import Module
from .normalization.modules import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .parameter import UninitializedBuffer, UninitializedParameter, is_lazy, settle
from .transposed import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d


class LazyModuleMixin:
    """Base, before `Module`, of modules of one's own that learn sizes from their first input.

    Such a class makes its parameters `UninitializedParameter()`, and defines
    `initialize_parameters`, which gets the arguments of the first call and gives them shapes:
    `self.weight.materialize((out, input.shape[-1]))`. After it the module becomes one of
    `cls_to_become`, if that is not None.
    """

    cls_to_become: ClassVar[Any] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        module: Any = self
        self._initialize_hook = module.register_forward_pre_hook(
            _initialize_at_first_call, with_kwargs=True
        )

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give parameters their shapes, by the arguments of the first call; for subclasses."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Return whether a parameter or buffer has no shape yet."""
        module: Any = self
        members = (*module._parameters.values(), *module._buffers.values())
        return any(is_lazy(member) for member in members)

    def _load_from_state_dict(self, state_dict: Mapping[str, Any], prefix: str, *rest: Any) -> None:
        module: Any = self
        for members in (module._parameters, module._buffers):
            for name, target in members.items():
                source = state_dict.get(prefix + name)
                if target is None or not isinstance(source, Tensor):
                    continue
                if is_lazy(target) and not is_lazy(source):
                    settle(target, source.array.astype(target.dtype))
        above: Any = super()
        above._load_from_state_dict(state_dict, prefix, *rest)


def _initialize_at_first_call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Initialize a module of one's own, which is not lazy any more."""
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(
            f"module {type(module).__name__} has not been fully initialized: "
            "initialize_parameters left a parameter or buffer without a shape"
        )
    module._initialize_hook.remove()
    del module._initialize_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


class LazyModule(LazyModuleMixin, Module):
    """Base of lazy modules, which become modules of `cls_to_become` at their first call.

    Until then their parameters and buffers have no shape. They stay the same objects, so that an
    optimizer may have been given them; a state may be loaded before.
    """

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

    def size_of(self, input: Tensor) -> int:
        """Return the size that an input shows."""
        raise NotImplementedError(f"{type(self).__name__} does not define size_of")

    def reset_parameters(self) -> None:
        """Do nothing: there are no values yet."""

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give parameters and buffers the shapes and values for the input of a call."""
        size = self.size_of(args[0] if args else kwargs["input"])
        own_args, own_kwargs = self._arguments
        made = self.cls_to_become(size, *own_args, **own_kwargs)
        for own, members in (
            (self._parameters, made._parameters),
            (self._buffers, made._buffers),
        ):
            for name, member in members.items():
                target = own[name]
                if target is not None and member is not None and is_lazy(target):
                    settle(target, member.array.astype(target.dtype))
        vars(self)[self.size_name] = size

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Become a module that is not lazy, and call it."""
        self.initialize_parameters(*args, **kwargs)
        del self._arguments
        self.__class__ = self.cls_to_become
        return self.forward(*args, **kwargs)


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
