import numpy as np
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(44)
X, Xv = (torch.from_numpy(rng.normal(size=s)) for s in ((40, 6), (30, 6)))
w_true = torch.tensor([1.0, -1, 0, 0, 2, 0])
y, yv = X @ w_true + 0.5 * torch.from_numpy(rng.normal(size=40)), Xv @ w_true
log_lam = torch.zeros(6, requires_grad=True)
lr = torch.tensor(0.05, requires_grad=True)
hyper = torch.optim.Adam([log_lam, lr], lr=0.05)
vals = []
for outer in range(8):  # unrolled
    w = torch.zeros(6, requires_grad=True)
    mom = torch.zeros(6)
    for inner in range(15):
        loss = F.mse_loss(X @ w, y) + (log_lam.exp() * w**2).mean()
        (g,) = torch.autograd.grad(loss, w, create_graph=True)
        mom = 0.8 * mom + g
        w = w - lr * mom
    val = F.mse_loss(Xv @ w, yv)
    hyper.zero_grad()
    val.backward()
    hyper.step()
    vals.append(val.item())


# implicit differentiation by a custom function
class Ridge(torch.autograd.Function):
    @staticmethod
    def forward(ctx, X, y, lam):
        A = X.T @ X / len(X) + torch.diag(lam)
        w = torch.linalg.solve(A, X.T @ y / len(X))
        ctx.save_for_backward(A, w)
        return w

    @staticmethod
    def backward(ctx, g):
        A, w = ctx.saved_tensors
        return None, None, -torch.linalg.solve(A, g) * w if ctx.needs_input_grad[2] else None


lam = torch.full((6,), 0.3, requires_grad=True)
assert torch.autograd.gradcheck(lambda l: Ridge.apply(X, y, l), lam)
imp = torch.autograd.grad(F.mse_loss(Xv @ Ridge.apply(X, y, lam), yv), lam)[0]


class FixedPoint(torch.autograd.Function):
    @staticmethod
    def forward(W, x):
        z = torch.zeros_like(x)
        for _ in range(60):
            z = torch.tanh(W @ z + x)
        return z

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx, g):
        W, z = ctx.saved_tensors
        D = 1 - z**2
        u = torch.linalg.solve((torch.eye(len(z)) - D[:, None] * W).T, g)
        return torch.outer(D * u, z), D * u


W = torch.from_numpy(0.2 * rng.normal(size=(4, 4))).requires_grad_()
x0 = torch.ones(4, requires_grad=True)
torch.autograd.gradcheck(FixedPoint.apply, (W, x0))
(FixedPoint.apply(W, x0) ** 2).sum().backward()
# DARTS style finite difference, and a constrained problem by augmented Lagrangian
a = torch.zeros(2, requires_grad=True)
mu_, rho = torch.zeros(()), 1.0
for k in range(5):
    o = torch.optim.LBFGS([a], max_iter=20)

    def closure():
        o.zero_grad()
        c = a[0] + 2 * a[1] - 1
        L = ((a - 1) ** 2).sum() + mu_ * c + rho / 2 * c**2
        L.backward()
        return L

    o.step(closure)
    with torch.no_grad():
        mu_ = mu_ + rho * (a[0] + 2 * a[1] - 1)
    rho *= 2
OUT = dict(vals=vals, lam=log_lam, lr=lr, imp=imp, gw=W.grad, a=a, mu=mu_)
