"""Fixtures of all tests: PyTorch, where it is installed."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

from gradspec.dispatch.registry import BY_NAME, OPS, _lazy_families

# How long hypothesis takes says what else the machine does: at its first number it reads the
# source of every module of ours.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what failed runs of the generator leave out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADSPEC_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def forget_packages() -> None:
    """Take the ops of all packages but gradspec's own out of the registry."""
    for name, op in tuple(BY_NAME.items()):
        if not op.function.__module__.startswith("gradspec."):
            del BY_NAME[name], OPS[op.function]
    for module in tuple(_lazy_families):
        if not module.startswith("gradspec."):
            del _lazy_families[module]


@pytest.fixture
def no_other_package() -> None:
    """Forget the packages of earlier tests, as the ops of all packages have different names."""
    forget_packages()


@pytest.fixture(scope="module", autouse=True)
def packages_of_its_own() -> Iterator[None]:
    """Forget what a file's tests register when they have run, so that no other file meets it."""
    yield
    forget_packages()


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """PyTorch, imported only by the tests that compare with it (marked `oracle`)."""
    return importlib.import_module("torch")


FOLDERS = {"oracle": "torch", "jax": "jax", "browser": "selenium"}
"""Folders of tests whose modules import a framework, and which; elsewhere tests import it."""

SITE = Path(__file__).parents[1] / "build" / "docs" / "site" / "index.html"


def can_browse() -> bool:
    """Return whether `make docs` has built the site, and there is a browser to look at it."""
    return SITE.exists() and all(map(shutil.which, ("chromium", "chromedriver")))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a framework's folder unread where the framework is not installed."""
    if collection_path.parent != Path(__file__).parent:
        return None
    framework = FOLDERS.get(collection_path.name)
    absent = framework is not None and importlib.util.find_spec(framework) is None
    absent |= collection_path.name == "browser" and not can_browse()
    return True if absent else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the comparisons with frameworks that are not installed."""
    for mark, module in (("oracle", "torch"), ("jax", "jax")):
        if importlib.util.find_spec(module) is None:
            compared = [item for item in items if item.get_closest_marker(mark)]
            config.hook.pytest_deselected(items=compared)
            items[:] = [item for item in items if not item.get_closest_marker(mark)]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep the collector from the tests themselves, which are there to the end: it would look at
    all twenty thousand time and again."""
    gc.collect()
    gc.freeze()
