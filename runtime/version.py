"""The version of the installed package, and those of platforms of GPUs, which it has not."""

from importlib.metadata import version

__version__ = version("gradspec")
cuda = hip = rocm = xpu = None
debug = False
