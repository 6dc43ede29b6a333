"""Custom functions that random programs call, as source that is run in each library."""

FUNCTIONS = """
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

class Part(T.autograd.Function):
    # Answers a view of its input.
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

class Same(T.autograd.Function):
    # Answers its input itself, and an integer.
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(y)
        return x, x.numel()

    @staticmethod
    def backward(ctx, grad, _):
        y, = ctx.saved_tensors
        return (grad * y.sum(), None) if ctx.needs_input_grad[0] else (None, None)

class Kept(T.autograd.Function):
    # Keeps an output and says which input needs a gradient.
    @staticmethod
    def forward(ctx, x, y):
        out = x.exp()
        ctx.save_for_backward(out, y)
        return out, y.sin().sum()

    @staticmethod
    def backward(ctx, first, second):
        out, y = ctx.saved_tensors
        return (
            first * out if ctx.needs_input_grad[0] else None,
            second * y.cos() if ctx.needs_input_grad[1] else None,
        )

class Later(T.autograd.Function):
    # The forward without a context, and a rule for tangents.
    @staticmethod
    def forward(x, y):
        return x * x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return 2 * grad * x * y, grad * x * x

    @staticmethod
    def jvp(ctx, x_t, y_t):
        x, y = ctx.saved_tensors
        return 2 * x * y * x_t + x * x * y_t

class Swap(T.autograd.Function):
    # Writes to its second input and answers it first.
    @staticmethod
    def forward(ctx, x, y):
        y.mul_(3)
        ctx.mark_dirty(y)
        return y, x * 2

    @staticmethod
    def backward(ctx, first, second):
        return second * 2, first * 3

class Inner(T.autograd.Function):
    # A backward pass inside of a forward and of a backward.
    @staticmethod
    def forward(ctx, x):
        with T.enable_grad():
            y = x.detach().requires_grad_()
            (ctx.slope,) = T.autograd.grad(y.square().sum(), y)
        return x.square()

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.slope
"""
