import numpy as np
import torch
from torch.autograd import Function, gradcheck, gradgradcheck
from torch.autograd.function import once_differentiable

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(11)


class FixedPoint(Function):
    """z* = tanh(W z* + x), differentiated by the implicit function theorem."""

    @staticmethod
    def forward(ctx, W, x):
        z = torch.zeros_like(x)
        for _ in range(100):
            z_next = torch.tanh(z @ W.t() + x)
            if torch.norm(z_next - z) < 1e-13:
                break
            z = z_next
        ctx.save_for_backward(W, z)
        ctx.mark_non_differentiable()
        return z

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        W, z = ctx.saved_tensors
        d = 1 - z**2
        J = d.unsqueeze(-1) * W
        eye = torch.eye(W.shape[0])
        v = torch.linalg.solve((eye - J).transpose(-1, -2), g.unsqueeze(-1)).squeeze(-1) * d
        gW = torch.einsum("bi,bj->ij", v, z) if ctx.needs_input_grad[0] else None
        return gW, v


class QP(Function):
    """argmin 1/2 x'Qx + p'x subject to Ax = b, by its KKT system."""

    @staticmethod
    def forward(Q, p, A, b):
        n, m = Q.shape[0], A.shape[0]
        K = torch.zeros(n + m, n + m)
        K[:n, :n], K[:n, n:], K[n:, :n] = Q, A.T, A
        sol = torch.linalg.lu_factor(K)
        x = torch.linalg.lu_solve(*sol, torch.cat([-p, b]).unsqueeze(1)).squeeze(1)
        return x[:n], x[n:], K

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*output)
        ctx.mark_non_differentiable(output[2])

    @staticmethod
    def backward(ctx, gx, gl, _):
        x, lam, K = ctx.saved_tensors
        n = x.shape[0]
        d = torch.linalg.solve(K, torch.cat([gx, gl]))
        dx, dl = d[:n], d[n:]
        gQ = -0.5 * (torch.outer(dx, x) + torch.outer(x, dx))
        return gQ, -dx, -(torch.outer(dl, x) + torch.outer(lam, dx)), dl


W = torch.tensor(0.2 * rng.normal(size=(3, 3)), requires_grad=True)
x = torch.tensor(rng.normal(size=(2, 3)), requires_grad=True)
z = FixedPoint.apply(W, x)
z.pow(3).sum().backward()
ok = gradcheck(FixedPoint.apply, (W, x), eps=1e-6, atol=1e-5)
M = rng.normal(size=(4, 4))
Q = torch.tensor(M @ M.T + np.eye(4), requires_grad=True)
p, A, b = (torch.tensor(rng.normal(size=s), requires_grad=True) for s in ((4,), (2, 4), (2,)))
sol, lam, _ = QP.apply(Q, p, A, b)
gq = torch.autograd.grad(sol.pow(2).sum() + lam.sum(), (Q, p, A, b))
ok2 = gradcheck(lambda Q, p, A, b: QP.apply((Q + Q.T) / 2, p, A, b)[:2], (Q, p, A, b))


def sinkhorn(C, a, b, eps=0.1, iters=60):
    f, g = torch.zeros_like(a), torch.zeros_like(b)
    for _ in range(iters):
        f = -eps * torch.logsumexp((g[None, :] - C) / eps + b.log()[None, :], dim=1)
        g = -eps * torch.logsumexp((f[:, None] - C) / eps + a.log()[:, None], dim=0)
    P = torch.exp((f[:, None] + g[None, :] - C) / eps) * a[:, None] * b[None, :]
    return (P * C).sum(), P


u = torch.tensor(rng.normal(size=(6, 2)), requires_grad=True)
v = torch.tensor(rng.normal(size=(5, 2)) + 1)
wa = torch.softmax(torch.tensor(rng.normal(size=6)), 0).requires_grad_()
opt = torch.optim.LBFGS([u], lr=0.5, max_iter=4, history_size=5, line_search_fn="strong_wolfe")
costs = []


def closure():
    opt.zero_grad()
    C = torch.cdist(u, v, compute_mode="donot_use_mm_for_euclid_dist").square()
    loss = sinkhorn(C, torch.full((6,), 1 / 6), torch.full((5,), 0.2))[0]
    loss.backward()
    return loss


for _ in range(3):
    costs.append(opt.step(closure).item())
cost, P = sinkhorn(torch.cdist(u, v) ** 2, wa, torch.full((5,), 0.2))
gw = torch.autograd.grad(cost, wa)[0]
perm = torch.tensor(rng.normal(size=(4, 4)), requires_grad=True)
la = perm / 0.3
for _ in range(20):
    la = la - torch.logsumexp(la, -1, True)
    la = la - torch.logsumexp(la, -2, True)
(la.exp() * torch.arange(16.0).view(4, 4)).sum().backward()


class StraightThrough(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return (x > 0).to(x.dtype) * 2 - 1, x.sign()

    @staticmethod
    def backward(ctx, g, h):
        assert h is None
        return torch.nn.functional.hardtanh(g)


s = torch.tensor([0.3, -2.0], requires_grad=True)
o, _ = StraightThrough.apply(s)
(o * torch.tensor([5.0, 0.25])).sum().backward()
gg = gradgradcheck(
    lambda c: sinkhorn(c, torch.full((3,), 1 / 3), torch.full((3,), 1 / 3), 0.5, 4)[0],
    torch.tensor(rng.random((3, 3)), requires_grad=True),
)
OUT = dict(
    z=z,
    gW=W.grad,
    gx=x.grad,
    ok=ok,
    ok2=ok2,
    gq=gq,
    sol=sol,
    costs=costs,
    u=u,
    P=P,
    gw=gw,
    pg=perm.grad,
    s=s.grad,
    gg=gg,
    name=type(o.grad_fn).__name__,
    row=P.sum(1),
)
