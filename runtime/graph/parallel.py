"""Independent nodes of one backward pass in several threads.

Only the VJPs of the table run in the pool, on arrays: hooks, custom functions and what is added to
leaves stay in the thread that called `backward`. The gradients that arrive at a node are added in
the order of an ordinary pass, whichever was computed first, so results are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import copy_context
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from ..core.node import Node
from .anomaly import explain
from .engine import run, run_hooked, strategy
from .graph_task import GraphTask
from .run_hooks import Gradient

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor  # slow to import, and seldom needed

_HEAVY: Final = 2**16
"""Elements of a gradient from which on another thread is worth its while."""


class _Pool:
    """The threads, reused by all passes."""

    __slots__ = ("executor", "threads")

    def __init__(self) -> None:
        self.threads = 1
        self.executor: ThreadPoolExecutor | None = None


_pool: Final = _Pool()


def set_parallel(threads: int) -> None:
    """Let backward passes run independent nodes in so many threads; 1, the default, is off.

    Whether it pays depends on the graph and the machine, so measure. On two cores that other
    programs used as well, two threads took, in two runs, 0.72 and 1.09 times as long as one for 8
    branches of elementwise ops on a million elements, 0.87 and 1.03 times on 100,000, 1.28 and 1.35
    times on 1,000 (too few for the pool: that is what looking costs), and 1.18 and 1.39 times for
    8 products of 400 x 400 matrices, for which BLAS has threads of its own.

    ValueError unless `threads` is positive.
    """
    if threads < 1:
        raise ValueError(f"expected a positive number of threads, got {threads}")
    from concurrent.futures import ThreadPoolExecutor

    before = _pool.executor
    _pool.threads = threads
    _pool.executor = None if threads == 1 else ThreadPoolExecutor(threads, "gradspec-backward")
    strategy.run = run if threads == 1 else _run_in_pool
    if before is not None:
        before.shutdown(wait=False)


def get_parallel() -> int:
    """In how many threads backward passes run independent nodes."""
    return _pool.threads


def _run_in_pool(task: GraphTask, keep_graph: bool) -> None:
    """Visit every node as `engine.run` does, several at once where nothing forbids it."""
    if task.on_tensors or _pool.executor is None:
        run(task, keep_graph)
        return
    try:
        _ParallelRun(task, keep_graph, _pool.executor).run()
    except BaseException as error:
        explain(error, _compute)
        raise


def _compute(node: Node, grad: Gradient, needs: Sequence[object]) -> Sequence[Gradient]:
    """The VJP of one node, in a thread of the pool."""
    return node.apply(grad, needs)


class _ParallelRun:
    """What is ready, what is running, and what has arrived at each node."""

    def __init__(self, task: GraphTask, keep_graph: bool, pool: ThreadPoolExecutor) -> None:
        self.task = task
        self.keep_graph = keep_graph
        self.pool = pool
        self.ready: list[tuple[int, int, Node]] = []
        self.running: dict[Future[Sequence[Gradient]], Node] = {}
        self.arrived: dict[Node, list[tuple[int, int, Gradient]]] = {}
        self.number = count()
        task.count_dependencies([task.root])
        for node, waiting in task.dependencies.items():
            if not waiting:
                self._push(node)

    def run(self) -> None:
        """Visit all; what fails first in the order of an ordinary pass is raised."""
        from concurrent.futures import FIRST_COMPLETED, wait

        failures: list[tuple[int, BaseException]] = []
        while (self.ready and not failures) or self.running:
            if self.ready and not failures:
                self._start(heappop(self.ready)[2], failures)
            if self.running and (failures or not self.ready):
                for future in wait(self.running, return_when=FIRST_COMPLETED).done:
                    node = self.running.pop(future)
                    error = future.exception()
                    if error is None:
                        self._pass_on(node, future.result())
                    else:
                        failures.append((-node.sequence_nr, error))
        if failures:
            raise min(failures, key=lambda failure: failure[0])[1]

    def _start(self, node: Node, failures: list[tuple[int, BaseException]]) -> None:
        """Run a node here, or in the pool if it is heavy and something else is to be done."""
        grad = self._grad_of(node)
        wanted = self.task.needs
        needs = node.next_nodes if wanted is None else wanted.get(node)
        busy = self.ready or self.running
        if busy and needs is not None and self._may_leave(node, grad):
            context = copy_context()  # NumPy's errstate is in it
            self.running[self.pool.submit(context.run, _compute, node, grad, needs)] = node
            return
        try:
            grads = run_hooked(node, grad, self.task)
        except BaseException as error:
            failures.append((-node.sequence_nr, error))
            return
        self._pass_on(node, grads)

    def _may_leave(self, node: Node, grad: Gradient | None) -> bool:
        return (
            bool(node.op)
            and node.hooks is None
            and getattr(grad, "size", 0) >= _HEAVY
            and node not in self.task.captures
        )

    def _push(self, node: Node) -> None:
        heappush(self.ready, (-node.sequence_nr, next(self.number), node))

    def _grad_of(self, node: Node) -> Gradient | None:
        """The sum of what has arrived, in the order of the nodes that it came from."""
        for _, _, grad in sorted(self.arrived.pop(node, ()), key=lambda item: item[:2]):
            self.task.add(node, grad)
        return self.task.buffers.pop(node, None)

    def _pass_on(self, node: Node, grads: Sequence[Any]) -> None:
        if not self.keep_graph and (self.task.needs is None or node in self.task.needs):
            node.release()
        for position, grad_node in enumerate(node.next_nodes):
            if grad_node is None:
                continue
            if grads[position] is not None:
                entry = (-node.sequence_nr, position, grads[position])
                self.arrived.setdefault(grad_node, []).append(entry)
            self.task.dependencies[grad_node] -= 1
            if not self.task.dependencies[grad_node]:
                self._push(grad_node)
