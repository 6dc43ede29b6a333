"""Ctrl-C at any moment leaves the modes of a thread as they were."""

import contextlib
import gc
import queue
import random
import signal
import sys
import threading
import time
from collections import Counter

import pytest

import gradspec as gs
from gradspec.core.modes import current_mode

SIGNALS = 400


def no_grad():
    with gs.no_grad():
        pass


def nested():
    with gs.no_grad():
        with gs.enable_grad(), gs.inference_mode():
            pass
        with gs.set_grad_enabled(False):
            gs.ones(2) * 2


@gs.no_grad()
def decorated():
    return gs.ones(1)


MODES = gs.no_grad(), gs.inference_mode()


def used_again():
    for mode in MODES:
        with mode, mode:
            pass


def raising():
    with contextlib.suppress(ValueError), gs.no_grad():
        raise ValueError


@pytest.fixture
def ask_for_interrupt():
    """Answers a function that asks for one SIGINT, a moment later, and answers when it is sent."""
    main = threading.main_thread().ident
    asked = queue.SimpleQueue()
    rng = random.Random(0)

    def interrupt():
        while sent := asked.get():
            time.sleep(rng.random() * 2e-4)
            signal.pthread_kill(main, signal.SIGINT)
            sent.set()

    def ask():
        sent = threading.Event()
        asked.put(sent)
        return sent

    gc.disable()  # an interrupt inside a callback of the collector (hypothesis has one) is reported
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    yield ask
    asked.put(None)
    thread.join()
    signal.signal(signal.SIGINT, before)
    sys.setswitchinterval(interval)
    gc.enable()


@pytest.mark.parametrize("block", [no_grad, nested, decorated, used_again, raising])
def test_the_modes_are_as_before(ask_for_interrupt, block):
    found = Counter()
    for _ in range(SIGNALS):
        try:
            sent = ask_for_interrupt()
            while not sent.is_set():
                block()
            block()  # Python itself drops an interrupt that meets a finalizer
        except KeyboardInterrupt:
            found[gs.is_grad_enabled(), gs.is_inference_mode_enabled()] += 1
    assert list(found) == [(True, False)]
    assert found.total() > SIGNALS / 2
    no_grad()  # what an interrupt left prepared is forgotten
    gs.ones(1).neg()
    assert current_mode.flags == 0


def test_threads_that_run_ops_do_not_end_a_mode_that_another_begins():
    stop = threading.Event()

    def run_ops():
        while not stop.is_set():
            gs.ones(1).neg()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=run_ops)
    thread.start()
    x = gs.ones(1, requires_grad=True)
    try:
        for _ in range(5000):
            with gs.no_grad():
                assert not (x * 2).requires_grad
            assert (x * 2).requires_grad
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
