"""What a random program does to tensors beside calling ops, as lines of text."""

from __future__ import annotations

import random

PRELUDE = """
def weights(x):
    return T.cos(1.0 + T.arange(x.numel(), dtype=T.float64)).reshape(tuple(x.shape)).to(x.dtype)

def flat(result):
    if result is None or isinstance(result, T.Tensor):
        return [result]
    return [item for part in result for item in flat(part)]

def roots(result):
    return [x for x in flat(result) if x is not None and x.requires_grad]

def grads(result, inputs, **options):
    found = roots(result)
    if not found:
        return None
    options.setdefault("retain_graph", True)
    weighed = [weights(x) for x in found]
    options.setdefault("allow_unused", True)
    return list(T.autograd.grad(found, inputs, weighed, **options))

def total(result):
    parts = [T.view_as_real(x) if x.is_complex() else x * weights(x) for x in roots(result)]
    return sum(part.sum() for part in parts)

def dual(x):
    # What tangents of inference tensors and of tensors that overlap themselves are is not promised.
    overlaps = any(n > 1 and step == 0 for n, step in zip(x.shape, x.stride()))
    return x if x.is_inference() or (overlaps and x.numel()) else AD.make_dual(x, weights(x))

def source(written, read):
    # Where what is written overlaps what is read, the result may be that of any order.
    one = written if written._base is None else written._base
    other = read if read._base is None else read._base
    return read.clone() if one is other else read

def tangents(function):
    with AD.dual_level():
        pairs = [AD.unpack_dual(x) for x in flat(function())]
        change = [None if x.tangent is None else x.tangent.clone() for x in pairs]
        return [x.primal.clone() for x in pairs], change

def detached(result):
    if isinstance(result, T.Tensor) or result is None:
        return None if result is None else result.detach()
    return [detached(part) for part in result]

class Two(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, factor):
        ctx.save_for_backward(x, y)
        ctx.factor = factor
        return x * y * factor, x + y

    @staticmethod
    def backward(ctx, first, second):
        x, y = ctx.saved_tensors
        return first * y * ctx.factor + second, first * x * ctx.factor + second, None

class Once(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @T.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]

class Dirty(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

class Partly(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        mask = x > 0
        ctx.mark_non_differentiable(mask)
        return x * 2, x * 3, mask

    @staticmethod
    def backward(ctx, first, second, _):
        out = 0
        if first is not None:
            out = out + first * 2
        return out if second is None else out + second * 3
"""
"""What programs call; it is run in each library."""

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
    "handles.pop().remove()",
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
_PASSES = (
    "g{number} = {x}.sum().backward(retain_graph={flag})",
    "g{number} = {x}.sum().backward(create_graph=True)",
    "g{number} = {x}.backward()",
    "g{number} = {x}.backward(weights({x}))",
    "g{number} = grads([{x}, {y}], [{z}], create_graph={flag})",
    "g{number} = grads({x}, [{y}, {z}], retain_graph=False)",
    "g{number} = T.autograd.grad({x}.sum(), [{y}, {z}], retain_graph={flag}, create_graph=True)",
    "g{number} = T.autograd.grad({x}.sum(), [{y}], allow_unused=True, materialize_grads=True)",
)


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
    templates = _WRITES if kind < 0.58 else _OTHER if kind < 0.78 else _PASSES
    flag = rng.random() < 0.5
    return rng.choice(templates).format(x=x, y=y, z=z, new=f"x{number}", number=number, flag=flag)
