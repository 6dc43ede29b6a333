"""Neural networks: parameters, modules, and the functions they are made of."""

from . import functional, init
from .module import Module
from .modules import (
    GELU,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    Flatten,
    Identity,
    Linear,
    LogSoftmax,
    ModuleList,
    MSELoss,
    NLLLoss,
    ReLU,
    Sequential,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from .parameter import Parameter

__all__ = [
    "GELU",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "Flatten",
    "Identity",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "functional",
    "init",
]
