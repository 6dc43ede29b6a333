import numpy as np
import torch
import torch.nn as nn
from torch.func import jacrev, jvp, vjp

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(24)


class ODEFunc(nn.Module):
    def __init__(self, d=2, h=8):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(d + 1, h), nn.Tanh(), nn.Linear(h, h), nn.Softplus(beta=2), nn.Linear(h, d)
        )
        self.nfe = 0

    def forward(self, t, y):
        self.nfe += 1
        tt = torch.ones_like(y[:, :1]) * t
        return self.net(torch.cat([tt, y], 1))


def rk4(f, y, t0, t1, steps):
    h = (t1 - t0) / steps
    t = t0
    for _ in range(steps):
        k1 = f(t, y)
        k2 = f(t + h / 2, tuple(a + h / 2 * b for a, b in zip(y, k1)))
        k3 = f(t + h / 2, tuple(a + h / 2 * b for a, b in zip(y, k2)))
        k4 = f(t + h, tuple(a + h * b for a, b in zip(y, k3)))
        y = tuple(a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4))
        t = t + h
    return y


class Adjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, func, y0, t0, t1, steps, *params):
        with torch.no_grad():
            (y1,) = rk4(lambda t, y: (func(t, y[0]),), (y0,), t0, t1, steps)
        ctx.func, ctx.times = func, (t0, t1, steps)
        ctx.save_for_backward(y1, *params)
        return y1

    @staticmethod
    def backward(ctx, g):
        y1, *params = ctx.saved_tensors
        t0, t1, steps = ctx.times

        def aug(t, state):
            y, a = state[0], state[1]
            with torch.enable_grad():
                y = y.detach().requires_grad_(True)
                f = ctx.func(t, y)
                vjps = torch.autograd.grad(f, (y, *params), -a, allow_unused=True)
            return (
                f.detach(),
                *[torch.zeros_like(p) if v is None else v for v, p in zip(vjps, (y, *params))],
            )

        with torch.no_grad():
            state = rk4(aug, (y1, g, *[torch.zeros_like(p) for p in params]), t1, t0, steps)
        return (None, state[1], None, None, None, *state[2:])


func = ODEFunc()
for p in func.parameters():
    p.data = torch.from_numpy(rng.normal(0, 0.4, p.shape))
y0 = torch.from_numpy(rng.normal(size=(6, 2)))
target = torch.stack([y0[:, 1], -y0[:, 0]], 1)
opt = torch.optim.Adamax(func.parameters(), lr=0.02)
log = []
for it in range(5):
    out = Adjoint.apply(func, y0, 0.0, 1.0, 8, *func.parameters())
    loss = nn.functional.mse_loss(out, target)
    opt.zero_grad()
    loss.backward()
    log.append([loss.item(), *[p.grad.norm().item() for p in func.parameters()]])
    opt.step()
direct = rk4(lambda t, y: (func(t, y[0]),), (y0,), 0.0, 1.0, 8)[0]
gd = torch.autograd.grad(nn.functional.mse_loss(direct, target), tuple(func.parameters()))
ga = torch.autograd.grad(
    nn.functional.mse_loss(Adjoint.apply(func, y0, 0.0, 1.0, 8, *func.parameters()), target),
    tuple(func.parameters()),
)
gap = max((a - b).abs().max().item() for a, b in zip(gd, ga))


# continuous normalising flow: the trace exactly and by Hutchinson's estimate
def cnf(t, state):
    y = state[0]

    def f1(v):
        return func(t, v.unsqueeze(0)).squeeze(0)

    div = torch.vmap(jacrev(f1))(y).diagonal(dim1=-2, dim2=-1).sum(-1)
    return func(t, y), -div


z, dlp = rk4(cnf, (y0, torch.zeros(6)), 0.0, 1.0, 3)
e = torch.from_numpy(rng.choice([-1.0, 1.0], (6, 2)))
y = y0.clone().requires_grad_()
(ev,) = torch.autograd.grad(func(0.3, y), y, e, create_graph=True)
hutch = (ev * e).sum(1)
hutch.mean().backward()
logp = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(z) - dlp


# Hamiltonian network, symplectic step
H = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1, bias=False))
for p in H.parameters():
    p.data = torch.from_numpy(rng.normal(0, 0.5, p.shape))
qp = y0.clone().requires_grad_()
dH = torch.autograd.grad(H(qp).sum(), qp, create_graph=True)[0]
field = torch.stack([dH[:, 1], -dH[:, 0]], -1)
hl = (field - target).pow(2).mean()
hl.backward()
_, tang = jvp(lambda v: H(v), (y0,), (target,))
_, pull = vjp(lambda v: H(v).sum(), y0)
traj = torch.trapezoid(torch.stack([y0, direct.detach(), z.detach()]), dx=0.5, dim=0)
OUT = dict(
    log=log,
    gap=gap < 1e-4,
    nfe=func.nfe,
    z=z,
    logp=logp,
    gy=y.grad,
    hl=hl,
    gH=[p.grad for p in H.parameters()],
    tang=tang,
    pull=pull(torch.tensor(1.0))[0],
    traj=traj,
    beta=repr(func.net[3]),
)
