import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils import (
    parametrize,
    remove_weight_norm,
)
from torch.nn.utils import (
    spectral_norm as old_sn,
)
from torch.nn.utils import (
    weight_norm as old_wn,
)
from torch.nn.utils.parametrizations import orthogonal, weight_norm

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(36)


def fill(m):
    for p in m.parameters():
        p.data.copy_(torch.from_numpy(rng.normal(0, 0.5, tuple(p.shape))))
    return m


a = old_wn(fill(nn.Linear(5, 7)), dim=0)
b = weight_norm(fill(nn.Conv1d(7, 4, 3)), dim=0)
c = orthogonal(fill(nn.Linear(4, 4)), orthogonal_map="cayley", use_trivialization=False)


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)

    def right_inverse(self, A):
        return A.triu()


class MatExp(nn.Module):
    def forward(self, X):
        return torch.matrix_exp(X)


d = nn.Linear(3, 3)
fill(d)
parametrize.register_parametrization(d, "weight", Symmetric())
parametrize.register_parametrization(d, "weight", MatExp())
e = old_sn(fill(nn.Linear(4, 3)), n_power_iterations=2)
with torch.no_grad():
    e.weight_u.copy_(torch.nn.functional.normalize(torch.ones(3), dim=0))
    e.weight_v.copy_(torch.nn.functional.normalize(torch.ones(4), dim=0))
x = torch.from_numpy(rng.normal(size=(6, 5, 1)))
params = [p for m in (a, b, c, d, e) for p in m.parameters()]
opt = torch.optim.RAdam(params, lr=0.01)
ls = []
for _ in range(8):
    h = a(x.squeeze(-1)).unsqueeze(-1).repeat(1, 1, 3)
    h = b(h).squeeze(-1)
    h = e(c(h))
    out = d(h)
    loss = (out - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    ls.append(loss.item())
W = c.weight
with parametrize.cached():
    s = d.weight.sum() + d.weight.sum()
orth = (W @ W.T - torch.eye(4)).abs().max() < 1e-9
remove_weight_norm(a)
names = sorted(n for m in (a, b, c, d, e) for n, _ in m.named_parameters())
parametrize.remove_parametrizations(d, "weight", leave_parametrized=True)
OUT = dict(
    l=ls,
    orth=orth.item(),
    names=names,
    s=s,
    w=d.weight,
    ew=e.weight,
    par=parametrize.is_parametrized(b),
    aw=a.weight,
)
