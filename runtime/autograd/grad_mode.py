"""The modes under the name of PyTorch's module: `autograd.grad_mode.no_grad`."""

from ..core.modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
