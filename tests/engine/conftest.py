"""Fixtures of the tests of the runtime."""

import importlib

import pytest


@pytest.fixture(scope="session")
def torch():
    """PyTorch, imported only by the tests that compare with it (marked `oracle`)."""
    return importlib.import_module("torch")
