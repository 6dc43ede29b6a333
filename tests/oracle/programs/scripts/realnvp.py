import numpy as np
import torch as T
import torch.nn as nn
from torch.distributions import MultivariateNormal, TransformedDistribution
from torch.distributions.transforms import (
    AffineTransform,
    TanhTransform,
)

rng = np.random.default_rng(8)
T.set_default_dtype(T.float64)


class Coupling(nn.Module):
    def __init__(self, mask, hidden=8):
        super().__init__()
        self.register_buffer("mask", mask)
        self.s = nn.Sequential(
            nn.Linear(2, hidden), nn.LeakyReLU(), nn.Linear(hidden, 2), nn.Tanh()
        )
        self.t = nn.Sequential(nn.Linear(2, hidden), nn.LeakyReLU(), nn.Linear(hidden, 2))

    def forward(self, z):
        zm = z * self.mask
        s, t = self.s(zm) * (1 - self.mask), self.t(zm) * (1 - self.mask)
        return zm + (1 - self.mask) * (z * s.exp() + t), s.sum(-1)

    def inverse(self, x):
        xm = x * self.mask
        s, t = self.s(xm) * (1 - self.mask), self.t(xm) * (1 - self.mask)
        return xm + (1 - self.mask) * (x - t) * T.exp(-s), -s.sum(dim=-1)


class RealNVP(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        masks = T.tensor([[0.0, 1.0], [1.0, 0.0]]).repeat(n // 2, 1)
        self.layers = nn.ModuleList(Coupling(m) for m in masks)
        self.prior = MultivariateNormal(T.zeros(2), T.eye(2))

    def log_prob(self, x):
        ldj = x.new_zeros(x.shape[0])
        for layer in reversed(self.layers):
            x, d = layer.inverse(x)
            ldj = ldj + d
        return self.prior.log_prob(x) + ldj

    def push(self, z):
        for layer in self.layers:
            z, _ = layer(z)
        return z


flow = RealNVP()
for p in flow.parameters():
    nn.init.zeros_(p)
    p.data.add_(T.from_numpy(rng.normal(0, 0.3, tuple(p.shape))))
th = rng.uniform(0, np.pi, 80)
moons = np.stack([np.cos(th), np.sin(th)], 1) + 0.1 * rng.normal(size=(80, 2))
x = T.from_numpy(moons)
opt = T.optim.Adam(flow.parameters(), lr=0.01)
ls = []
for i in range(20):
    loss = -flow.log_prob(x).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    ls.append(loss.item())
z = T.from_numpy(rng.normal(size=(10, 2)))
y = flow.push(z)
jac = T.stack([T.autograd.functional.jacobian(lambda q: flow.push(q[None])[0], zi) for zi in z])
ld = T.linalg.slogdet(jac)[1]
lp = flow.log_prob(y)
check = (flow.prior.log_prob(z) - ld - lp).abs().max()
base = MultivariateNormal(T.zeros(2), scale_tril=T.tensor([[1.0, 0.0], [0.5, 2.0]]))
td = TransformedDistribution(base, [AffineTransform(1.0, 3.0), TanhTransform(cache_size=1)])
v = T.tanh(T.tensor([[0.1, 0.4], [1.0, -0.3]]))
OUT = dict(
    l=ls, lp=lp, check=bool(check < 1e-9), td=td.log_prob(v), params=len(list(flow.buffers()))
)
