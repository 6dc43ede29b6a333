"""The events of a random program other than calls of ops, as lines of text."""

from __future__ import annotations

import random

PRELUDE = """
def everything():
    return [x for name, x in sorted(globals().items()) if name[0] == "x" and name[1:].isdigit()]

def weights(x):
    steps = T.arange(x.numel(), dtype=T.float64).reshape(tuple(x.shape))
    if x.is_complex():
        return T.complex(T.cos(1.0 + steps), T.cos(2.0 + steps)).to(x.dtype)
    return T.cos(1.0 + steps).to(x.dtype)

def flat(result):
    if result is None or isinstance(result, T.Tensor):
        return [result]
    return [item for part in result for item in flat(part)]

def roots(result):
    return [x for x in flat(result) if x is not None and x.requires_grad]

waited_for = []

def wait_for(tensors, then):
    handles.append(graph.register_multi_grad_hook(tensors, then))
    waited_for.extend((x, x.grad_fn) for x in tensors)

def root(x):
    # PyTorch does not count the only root of a pass among the tensors that such a hook waits for.
    if any(x is y or (x.grad_fn is not None and x.grad_fn is node) for y, node in waited_for):
        return x * 1
    return x

def grads(result, inputs, **options):
    found = [root(x) for x in roots(result)]
    if not found:
        return None
    options.setdefault("retain_graph", True)
    weighed = [weights(x) for x in found]
    options.setdefault("allow_unused", True)
    return list(T.autograd.grad(found, inputs, weighed, **options))

def total(result):
    parts = [(x * weights(x)).real for x in roots(result)]
    return sum(part.sum() for part in parts)

def dual(x):
    # What tangents of inference tensors and of tensors that overlap themselves are is not promised.
    overlaps = any(n > 1 and step == 0 for n, step in zip(x.shape, x.stride()))
    return x if x.is_inference() or (overlaps and x.numel()) else AD.make_dual(x, weights(x))

def source(written, read):
    # Where what is written overlaps what is read, the result may be that of any order.
    # Both libraries refuse it where the elements of both lie without gaps.
    one = written if written._base is None else written._base
    other = read if read._base is None else read._base
    shared = one is other and written is not read
    # PyTorch compares the steps in dimensions of length one, too, which mean nothing.
    strides = list(zip(read.shape, read.stride(), written.stride()))
    alike = written.shape != read.shape or all(n > 1 or a == b for n, a, b in strides)
    return read.clone() if shared and not (dense(written) and dense(read) and alike) else read

def dense(x):
    return x.is_contiguous() or (x.ndim == 2 and x.t().is_contiguous())

def set_data(written, read):
    # A clone: overlaps of tensors that share memory in this way are not looked for. What a view and
    # its base have in common after it, or an inference tensor and a version, is not promised.
    if not written._is_view() and not written.is_inference() and written.shape == read.shape:
        written.data = read.clone()

def tangents(function):
    with AD.dual_level():
        pairs = [AD.unpack_dual(x) for x in flat(function())]
        change = [None if x.tangent is None else x.tangent.clone() for x in pairs]
        return [x.primal.clone() for x in pairs], change

def detached(result):
    if isinstance(result, T.Tensor) or result is None:
        return None if result is None else result.detach()
    return [detached(part) for part in result]
"""
"""Functions that programs call; run in each library, as `functions.FUNCTIONS` is."""

_UNARY = ("sin_", "cos_", "neg_", "square_", "exp_", "relu_", "abs_", "zero_", "floor_", "tril_")
_BINARY = ("add_", "sub_", "mul_", "copy_")
_VIEWS = (
    *(
        "[0]",
        "[1:]",
        "[..., 0]",
        ".view(-1)",
        ".t()",
        "[:]",
        ".unsqueeze(0)",
        ".detach()",
        "[None]",
    ),
    *(".transpose(0, -1)", ".diagonal()", ".squeeze()", ".unbind(0)[0]", ".chunk(2)[0]", ".mT"),
    *(".narrow(0, 0, 1)", ".reshape(-1)", ".select(0, 0)", ".movedim(0, -1)", ".split(1)[-1]"),
)
_HOOKS = ("g * 2", "None", "log.append(tuple(g.shape))", "g.clone()")
_WRITES = (
    *(
        "{x}[0] = 0.5",
        "{x}[0] = source({x}, {y})",
        "{x}[1:] = source({x}, {y})",
        "{x}[...] = source({x}, {y})",
        "{x}[..., 0] = 2",
    ),
    *(
        "{x}[{x} > 0] = 0.5",
        "{x}[{x} > 0] *= 2",
        "{x}[T.tensor([0])] = source({x}, {y})",
        "{x} *= 2",
    ),
    *(
        "{x}.addcmul_(source({x}, {y}), {y}.clone())",
        "{x}.lerp_(source({x}, {y}), 0.5)",
        "{x}.masked_fill_({x} > 0, 0.5)",
    ),
    *("{x}.clamp_(-0.5, 0.5)", "{x}.pow_(2)", "{x}.mul_(0.5)", "{x}.add_(1)", "{x}.fill_(1)"),
)
_OTHER = (
    "with T.no_grad():\n    {new} = {x} * 2",
    "with T.no_grad():\n    {x}.mul_(2)",
    "with T.inference_mode():\n    {new} = {x}.sin()",
    "with T.enable_grad():\n    {new} = {x} * {y}",
    "{x}.retain_grad()",
    "{x}.requires_grad_({flag})",
    "{x}.grad = None",
    "{x}.data.mul_(2)",
    "{x}.detach_()",
    "{new} = {x}.detach().clone().requires_grad_()",
    "handles.append({x}.register_post_accumulate_grad_hook(lambda p: log.append(p.grad.ndim)))",
    "handles.append({x}.grad_fn.register_hook(lambda i, o: log.append([k is None for k in i])))",
    "handles.append({x}.grad_fn.register_prehook(lambda o: tuple(k * 2 for k in o)))",
    "handles.append({x}.grad_fn.register_hook(lambda i, o: (i[0] * 5,)))",
    "handles.append({x}.register_post_accumulate_grad_hook("
    "lambda p: setattr(p, 'grad', p.grad * 2)))",
    "handles.pop().remove()",
    "set_data({x}, {y})",
    "{new} = Two.apply({x}, {y}, 2)[0]",
    "{new} = Two.apply({x}, {y}, 0.5)[1]",
    "{new} = Once.apply({x})",
    # A clone: where nothing is recorded, writes that a function declares are counted otherwise.
    "{new} = Dirty.apply({x}.clone())",
    "{new} = Partly.apply({x})[1]",
    "with graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):\n    {new} = {x} * {y}",
    "with graph.disable_saved_tensors_hooks('no'):\n    {new} = {x} * {y}",
    "t{number} = tangents(lambda: dual({x}).sin() * {y})",
    "t{number} = tangents(lambda: T.cat([dual({x}), {x}]))",
    "t{number} = tangents(lambda: dual({x}).clone().mul_({y}.clone()))",
    "v{number} = [{x}._version, {x}.is_leaf, {x}.output_nr, {x}._is_view(), {x}.is_inference()]",
    "v{number} = [{x}._base is None, {x}._base is {y}]",
)
_FUNCTIONS = (
    "{new} = Part.apply({x})",
    "{new} = Part.apply({x}[...])",
    "{new} = Same.apply({x}, {y})[0]",
    "{new} = Kept.apply({x}, {y})[0]",
    "{new} = Kept.apply({x}, {y})[1]",
    "{new} = Later.apply({x}, {x}.detach().clone())",
    "{new} = Later.apply({x}, {y})",
    "t{number} = tangents(lambda: Later.apply(dual({x}), {x}.detach().clone()))",
    "{new} = Swap.apply({x}, {y}.clone())[0]",
    "{new} = Swap.apply({x}, {y}.clone())[1]",
    "{new} = Swap.apply({y}.clone(), {x})[0]",
    "{new} = Inner.apply({x})",
    "{new} = Dirty.apply({x}.clone()[...])",
)
_BLOCKS = (
    "with T.no_grad():\n    {new} = {x}[...]\n{new}.mul_(2)",
    "with T.no_grad():\n    {new} = {x}.view(-1)",
    "{new} = {x}.view(-1)\nwith T.no_grad():\n    {new}.mul_(2)",
    "with T.inference_mode():\n    {new} = {x}[...]",
    "with T.inference_mode():\n    {new} = {x}.clone()[...]",
    "{new} = {x}.detach()[...]",
    "{new} = {x}.detach()\n{new}.mul_(2)",
    "{new} = {x}.detach().requires_grad_()",
    "T.set_grad_enabled(False)\n{new} = {x} * 2\nT.set_grad_enabled(True)",
    "with T.no_grad():\n    {new} = {x}.unbind(0)[0]",
    "with T.no_grad():\n    with T.enable_grad():\n        {new} = {x}.sin()",
    "with graph.save_on_cpu():\n    {new} = {x} * {y}",
    "with graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):\n"
    "    {new} = {x}.exp()",
    "with graph.saved_tensors_hooks(lambda t: (log.append(t.ndim), t.clone())[1],"
    " lambda t: t * 2):\n"
    "    {new} = {x}.exp()",
    "handles.append({x}.grad_fn.register_prehook(lambda o: log.append([k is None for k in o])))",
    "wait_for([{x}, {y}], lambda g: log.append([k is None for k in g]))",
    "handles.append(graph.register_multi_grad_hook([{x}, {y}],"
    " lambda g: log.append(tuple(g.shape)), mode='any'))",
    "handles.append({x}.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(2)))",
    "{x}.retain_grad()\nhandles.append({x}.register_hook(lambda g: g * 3))",
    "{x}.grad.mul_(2)",
    "{x}.grad.zero_()",
    "{x}.grad.detach_()",
    "{x}.grad = {x}.detach().clone()",
    "{x}.data = {x}.detach().clone() * 2",
    "{new} = {x}.grad",
    "n{number} = [f is None or f[0] is None for f in ({x}.grad_fn.next_functions or [None])]",
)
_PASSES = (
    "g{number} = {x}.sum().backward(inputs=[{y}])",
    "g{number} = total([{x}, {y}]).backward(inputs=[{y}, {z}], retain_graph={flag})",
    "g{number} = T.autograd.backward([{x}, {y}], [weights({x}), weights({y})])",
    "g{number} = T.autograd.backward([root({x})], [weights({x})], inputs=[{z}],"
    " create_graph={flag})",
    "g{number} = total({x}).backward(inputs={y})",
    "g{number} = grads(grads({x}, [{y}], create_graph=True), [{y}, {z}])",
    "g{number} = grads(T.autograd.grad(total({x}), {y}, create_graph=True), [{z}])",
    "g{number} = T.autograd.grad([root({x})], [{y}], [weights({x})], is_grads_batched=False)",
    "g{number} = T.autograd.grad(root({x}), {y}, weights({y}), allow_unused={flag})",
    "g{number} = {x}.sum().backward(retain_graph={flag})",
    "g{number} = {x}.sum().backward(create_graph=True)",
    "g{number} = root({x}).backward()",
    "g{number} = root({x}).backward(weights({x}))",
    "g{number} = grads([{x}, {y}], [{z}], create_graph={flag})",
    "g{number} = grads({x}, [{y}, {z}], retain_graph=False)",
    "g{number} = T.autograd.grad({x}.sum(), [{y}, {z}], retain_graph={flag}, create_graph=True)",
    "g{number} = T.autograd.grad({x}.sum(), [{y}], allow_unused=True, materialize_grads=True)",
)


_REST = (_OTHER, _FUNCTIONS, _BLOCKS)


def event(rng: random.Random, names: list[str], number: int) -> str:
    """A line that does something to some of the tensors."""
    x, y, z = (rng.choice(names) for _ in range(3))
    kind = rng.random()
    if kind < 0.12:
        return f"{x}.{rng.choice(_UNARY)}()"
    if kind < 0.24:
        return f"{x}.{rng.choice(_BINARY)}(source({x}, {y}))"
    if kind < 0.4:
        return f"x{number} = {x}{rng.choice(_VIEWS)}"
    if kind < 0.44:
        return f"handles.append({x}.register_hook(lambda g: {rng.choice(_HOOKS)}))"
    templates = _WRITES if kind < 0.58 else rng.choice(_REST) if kind < 0.78 else _PASSES
    flag = rng.random() < 0.5
    return rng.choice(templates).format(x=x, y=y, z=z, new=f"x{number}", number=number, flag=flag)
