import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

rng = np.random.default_rng(18)
V, D, NH, KV, T = 17, 16, 4, 2, 8


class RMSNorm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(d))

    def forward(self, x):
        return (
            x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)
        ).type_as(x) * self.weight


def freqs(d, end, theta=10000.0):
    f = 1.0 / (theta ** (torch.arange(0, d, 2)[: (d // 2)].float() / d))
    return torch.polar(
        torch.ones(end, d // 2), torch.outer(torch.arange(end, dtype=torch.float32), f)
    )


def rope(x, fc):
    xc = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(xc * fc[None, :, None, :]).flatten(3).type_as(x)


def repeat_kv(x, n):
    b, s, k, h = x.shape
    return x[:, :, :, None, :].expand(b, s, k, n, h).reshape(b, s, k * n, h)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        hd = D // NH
        self.q, self.k, self.v, self.o = (
            nn.Linear(i, o, bias=False)
            for i, o in ((D, NH * hd), (D, KV * hd), (D, KV * hd), (NH * hd, D))
        )
        self.register_buffer("ck", torch.zeros(4, T * 2, KV, hd), persistent=False)
        self.register_buffer("cv", torch.zeros(4, T * 2, KV, hd), persistent=False)

    def forward(self, x, pos, fc, cache):
        b, s, _ = x.shape
        q, k, v = (
            self.q(x).view(b, s, NH, -1),
            self.k(x).view(b, s, KV, -1),
            self.v(x).view(b, s, KV, -1),
        )
        q, k = rope(q, fc), rope(k, fc)
        if cache:
            self.ck[:b, pos : pos + s], self.cv[:b, pos : pos + s] = k, v
            k, v = self.ck[:b, : pos + s], self.cv[:b, : pos + s]
        k, v = repeat_kv(k, NH // KV), repeat_kv(v, NH // KV)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        mask = None
        if s > 1:
            mask = torch.triu(torch.full((s, s), float("-inf")), diagonal=1)
            mask = torch.hstack([torch.zeros((s, pos)), mask]) if cache else mask
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.o(y.transpose(1, 2).contiguous().view(b, s, -1))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.n1, self.n2 = Attention(), RMSNorm(D), RMSNorm(D)
        self.w1, self.w2, self.w3 = (
            nn.Linear(D, 32, bias=False),
            nn.Linear(32, D, bias=False),
            nn.Linear(D, 32, bias=False),
        )

    def forward(self, x, pos, fc, cache):
        x = x + self.a(self.n1(x), pos, fc, cache)
        h = self.n2(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(V, D)
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.norm, self.head = RMSNorm(D), nn.Linear(D, V, bias=False)
        self.head.weight = self.tok.weight
        self.register_buffer("fc", freqs(D // NH, 2 * T), persistent=False)

    def forward(self, t, pos=0, cache=False):
        x = self.tok(t)
        for l in self.layers:
            fc = self.fc[pos : pos + t.shape[1]]
            x = (
                checkpoint(l, x, pos, fc, cache, use_reentrant=False)
                if self.training
                else l(x, pos, fc, cache)
            )
        return self.head(self.norm(x))


m = LM()
with torch.no_grad():
    for n, p in m.named_parameters():
        if p.dim() == 2:
            p.copy_(torch.tensor(rng.normal(0, 0.15, tuple(p.shape)), dtype=torch.float32))
decay = [p for p in m.parameters() if p.dim() >= 2]
rest = [p for p in m.parameters() if p.dim() < 2]
opt = torch.optim.AdamW(
    [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}],
    lr=3e-3,
    betas=(0.9, 0.95),
    fused=False,
)
data = torch.tensor(rng.integers(0, V, (8, 4, T + 1)))
log = []
for it in range(4):
    lr = 3e-3 * (0.5 * (1 + math.cos(math.pi * it / 4)))
    for g in opt.param_groups:
        g["lr"] = lr
    for micro in range(2):
        b = data[2 * it + micro]
        loss = F.cross_entropy(m(b[:, :-1]).flatten(0, 1), b[:, 1:].reshape(-1), ignore_index=3) / 2
        loss.backward()
    gn = torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0, foreach=True)
    opt.step()
    opt.zero_grad(set_to_none=True)
    log.append([loss.item(), gn.item()])
m.eval()
with torch.no_grad():
    toks = data[0, :2, :4]
    full = m(toks)
    pre = m(toks[:, :3], 0, True)
    inc = m(toks[:, 3:4], 3, True)
    same = torch.allclose(full[:, -1], inc[:, -1], atol=1e-5)
    pos = 4
    seq = toks
    for _ in range(5):
        probs = torch.softmax(m(seq[:, -1:], pos - 1, True)[:, -1] / 0.8, dim=-1)
        ps, pi = torch.sort(probs, dim=-1, descending=True)
        ps[torch.cumsum(ps, dim=-1) - ps > 0.8] = 0.0
        ps.div_(ps.sum(dim=-1, keepdim=True))
        u = torch.tensor(rng.random((2, 1)), dtype=torch.float32)
        nxt = torch.gather(pi, -1, (ps.cumsum(-1) < u).sum(-1, keepdim=True))
        seq = torch.cat((seq, nxt), dim=1)
        pos += 1
OUT = dict(
    log=log,
    same=same,
    seq=seq,
    inc=inc,
    n=len(list(m.parameters())),
    keys=list(m.state_dict()),
)
