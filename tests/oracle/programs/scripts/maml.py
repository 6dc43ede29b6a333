import numpy as np
import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(19)
net = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
params = {
    k: torch.from_numpy(rng.normal(0, 0.4, tuple(p.shape))).requires_grad_()
    for k, p in net.named_parameters()
}
opt = torch.optim.Adam(params.values(), lr=1e-2)


def loss(p, x, y):
    return F.mse_loss(functional_call(net, p, (x,)), y)


def tasks(n, k=8):
    A, ph = rng.uniform(0.5, 2, (n, 1, 1)), rng.uniform(0, np.pi, (n, 1, 1))
    x1, x2 = rng.uniform(-3, 3, (n, k, 1)), rng.uniform(-3, 3, (n, k, 1))
    return [torch.from_numpy(v) for v in (x1, A * np.sin(x1 + ph), x2, A * np.sin(x2 + ph))]


def adapted(p, x1, y1, x2, y2):
    for _ in range(2):
        g = grad(loss)(p, x1, y1)
        p = {k: p[k] - 0.05 * g[k] for k in p}
    return loss(p, x2, y2)


ls = []
for it in range(6):
    l = vmap(adapted, in_dims=(None, 0, 0, 0, 0))(params, *tasks(4)).mean()
    opt.zero_grad()
    l.backward()
    opt.step()
    ls.append(l.item())
# the same by autograd.grad with create_graph
fast = list(params.values())
x1, y1, x2, y2 = (v[0] for v in tasks(1))


def forward(w, x):
    return F.linear(torch.tanh(F.linear(F.relu(F.linear(x, w[0], w[1])), w[2], w[3])), w[4], w[5])


g = torch.autograd.grad(F.mse_loss(forward(fast, x1), y1), fast, create_graph=True)
fast = list(map(lambda p: p[1] - 0.05 * p[0], zip(g, fast)))
outer = F.mse_loss(forward(fast, x2), y2)
meta = torch.autograd.grad(outer, list(params.values()))
# Reptile and first order
first = torch.autograd.grad(
    F.mse_loss(forward([p - 0.05 * q.detach() for p, q in zip(params.values(), g)], x2), y2),
    list(params.values()),
)
OUT = dict(ls=ls, meta=[m.norm() for m in meta], first=[m.norm() for m in first])
