import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(1)
K, TAIL, MIN = 5, 3.0, 1e-3


def rqs(x, w, h, d, inverse=False):
    inside = (x >= -TAIL) & (x <= TAIL)
    w = F.softmax(w, -1) * (1 - MIN * K) + MIN
    h = F.softmax(h, -1) * (1 - MIN * K) + MIN
    d = F.pad(MIN + F.softplus(d), (1, 1), value=1.0)
    cw = F.pad(torch.cumsum(w, -1), (1, 0)) * 2 * TAIL - TAIL
    ch = F.pad(torch.cumsum(h, -1), (1, 0)) * 2 * TAIL - TAIL
    w, h = cw[..., 1:] - cw[..., :-1], ch[..., 1:] - ch[..., :-1]
    knots = ch if inverse else cw
    xin = torch.where(inside, x, torch.zeros_like(x))
    idx = torch.searchsorted(
        knots[..., :-1].contiguous().detach(), xin.unsqueeze(-1).detach(), right=True
    )
    idx = (idx - 1).clamp(0, K - 1)

    def g(t):
        return t.gather(-1, idx).squeeze(-1)

    xk, wk, yk, hk = g(cw[..., :-1]), g(w), g(ch[..., :-1]), g(h)
    dk, dk1, s = g(d[..., :-1]), g(d[..., 1:]), g(h / w)
    if inverse:
        a = (xin - yk) * (dk + dk1 - 2 * s) + hk * (s - dk)
        b = hk * dk - (xin - yk) * (dk + dk1 - 2 * s)
        c = -s * (xin - yk)
        t = 2 * c / (-b - (b.pow(2) - 4 * a * c).clamp_min(0).sqrt())
        out = t * wk + xk
    else:
        t = (xin - xk) / wk
        out = yk + hk * (s * t**2 + dk * t * (1 - t)) / (s + (dk + dk1 - 2 * s) * t * (1 - t))
    den = s + (dk + dk1 - 2 * s) * t * (1 - t)
    ld = 2 * s.log() + (dk1 * t**2 + 2 * s * t * (1 - t) + dk * (1 - t) ** 2).log() - 2 * den.log()
    ld = -ld if inverse else ld
    return torch.where(inside, out, x), torch.where(inside, ld, torch.zeros_like(ld))


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(2, 16), nn.SiLU(), nn.Linear(16, 2 * (3 * K - 1)))

    def forward(self, x, inverse=False):
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        p = self.net(a).view(len(x), 2, -1)
        w, h, d = torch.split(p, [K, K, K - 1], -1)
        b, ld = rqs(b, w, h, d, inverse)
        return torch.cat([b, a] if self.flip else [a, b], 1), ld.sum(1)


flow = nn.ModuleList([Coupling(i % 2 == 1) for i in range(3)])
for p in flow.parameters():
    nn.init.zeros_(p)
    p.data.add_(torch.as_tensor(rng.normal(0, 0.3, tuple(p.shape))))
opt = torch.optim.AdamW(flow.parameters(), lr=5e-3, weight_decay=1e-2, amsgrad=True)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 2e-2, total_steps=12)
data = torch.as_tensor(rng.normal(size=(64, 4)) * 1.5)
base = torch.distributions.Independent(torch.distributions.Normal(torch.zeros(4), torch.ones(4)), 1)
log = []
for step in range(12):
    z, total = data, 0
    for layer in flow:
        z, ld = layer(z)
        total = total + ld
    nll = -(base.log_prob(z) + total).mean()
    opt.zero_grad(set_to_none=True)
    nll.backward()
    norm = torch.nn.utils.clip_grad_norm_(flow.parameters(), 1.0)
    opt.step()
    sched.step()
    log.append((nll.item(), norm.item(), sched.get_last_lr()[0]))
with torch.no_grad():
    z, x = data, None
    for layer in flow:
        z, _ = layer(z)
    x = z
    for layer in reversed(flow):
        x, _ = layer(x, inverse=True)
OUT = dict(log=log, z=z, back=(x - data).abs().max().item() < 1e-8, p=list(flow.parameters()))
