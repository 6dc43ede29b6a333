"""The dtypes by PyTorch's names: `gs.float32`. They are NumPy's, so either may be given."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy import dtype as dtype

DType: TypeAlias = np.dtype[Any]

float16: Final[DType] = np.dtype(np.float16)
float32: Final[DType] = np.dtype(np.float32)
float64: Final[DType] = np.dtype(np.float64)
complex64: Final[DType] = np.dtype(np.complex64)
complex128: Final[DType] = np.dtype(np.complex128)
uint8: Final[DType] = np.dtype(np.uint8)
uint16: Final[DType] = np.dtype(np.uint16)
uint32: Final[DType] = np.dtype(np.uint32)
uint64: Final[DType] = np.dtype(np.uint64)
int8: Final[DType] = np.dtype(np.int8)
int16: Final[DType] = np.dtype(np.int16)
int32: Final[DType] = np.dtype(np.int32)
int64: Final[DType] = np.dtype(np.int64)
bool: Final[DType] = np.dtype(np.bool_)

half: Final = float16
float: Final = float32
double: Final = float64
cfloat: Final = complex64
cdouble: Final = complex128
short: Final = int16
int: Final = int32
long: Final = int64
