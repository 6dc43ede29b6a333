"""A selective state-space layer, experts, linear attention, ALiBi, LoRA by hooks."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.testing import assert_close
from torch.utils.checkpoint import checkpoint

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
rng = np.random.default_rng(41)


def N(*s, k=1.0):
    return torch.from_numpy(rng.normal(0, k, s))


def fill(m, k=0.3):
    with torch.no_grad():
        for p in m.parameters():
            p.copy_(N(*p.shape, k=k))
    return m


class SelectiveSSM(nn.Module):
    def __init__(self, d, n=4, rank=2):
        super().__init__()
        self.n, self.rank = n, rank
        self.in_proj = nn.Linear(d, 2 * d, bias=False)
        self.conv = nn.Conv1d(d, d, 3, groups=d, padding=2)
        self.x_proj = nn.Linear(d, rank + 2 * n, bias=False)
        self.dt_proj = nn.Linear(rank, d)
        A = torch.arange(1, n + 1, dtype=torch.float64).repeat(d, 1)
        self.A_log, self.D = nn.Parameter(torch.log(A)), nn.Parameter(torch.ones(d))
        self.out = nn.Linear(d, d, bias=False)

    def forward(self, x):
        b, l, d = x.shape
        x, z = self.in_proj(x).chunk(2, -1)
        x = F.silu(self.conv(x.transpose(1, 2))[..., :l].transpose(1, 2))
        dt, B, C = self.x_proj(x).split([self.rank, self.n, self.n], dim=-1)
        dt = F.softplus(self.dt_proj(dt))
        A = -torch.exp(self.A_log)
        dA, dB = torch.exp(dt.unsqueeze(-1) * A), dt.unsqueeze(-1) * B.unsqueeze(2)
        h, ys = x.new_zeros(b, d, self.n), []
        for i in range(l):
            h = dA[:, i] * h + dB[:, i] * x[:, i].unsqueeze(-1)
            ys.append(torch.einsum("bdn,bn->bd", h, C[:, i]))
        y = torch.stack(ys, dim=1) + x * self.D
        return self.out(y * F.silu(z))


class MoE(nn.Module):
    def __init__(self, d, experts=4, k=2):
        super().__init__()
        self.k, self.gate = k, nn.Linear(d, experts, bias=False)
        self.experts = nn.ModuleList(
            [
                nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
                for _ in range(experts)
            ]
        )

    def forward(self, x):
        flat = x.view(-1, x.shape[-1])
        logits = self.gate(flat)
        w, idx = torch.topk(logits, self.k)
        w = F.softmax(w, dim=1, dtype=torch.float64).to(x.dtype)
        res = torch.zeros_like(flat)
        for i, e in enumerate(self.experts):
            tok, nth = torch.where(idx == i)
            res[tok] += w[tok, nth, None] * e(flat[tok])
        probs = logits.softmax(-1)
        frac = F.one_hot(idx, len(self.experts)).double().mean((0, 1))
        aux = (frac * probs.mean(0)).sum() * len(self.experts) + 1e-3 * torch.logsumexp(
            logits, -1
        ).square().mean()
        return res.view_as(x), aux


class LoRA(nn.Module):
    def __init__(self, base, r=2, alpha=4.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a, self.b = (
            nn.Parameter(N(r, base.in_features)),
            nn.Parameter(torch.zeros(base.out_features, r)),
        )
        self.scale = alpha / r

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.a), self.b) * self.scale


class Net(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.ssm, self.moe = SelectiveSSM(d), MoE(d)
        self.n1, self.n2 = nn.LayerNorm(d), nn.RMSNorm(d, eps=1e-6)
        self.qkv = nn.Linear(d, 3 * d)
        self.head = nn.Linear(d, 5)

    def attend(self, x):
        b, l, d = x.shape
        q, k, v = (t.view(b, l, 2, d // 2).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        slopes = torch.tensor([2 ** (-4.0), 2 ** (-8.0)])
        pos = torch.arange(l)
        bias = (pos[None] - pos[:, None]).clamp(max=0)[None] * slopes[:, None, None]
        mask = torch.ones(l, l, dtype=torch.bool).tril(diagonal=0)
        bias = bias.masked_fill(mask.logical_not(), float("-inf"))
        with sdpa_kernel(SDPBackend.MATH):
            o = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        o2 = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3)

        def phi(t):
            return F.elu(t) + 1

        kv = torch.einsum("bhld,bhle->bhlde", phi(k), v).cumsum(2)
        lin = torch.einsum("bhld,bhlde->bhle", phi(q), kv) / (
            torch.einsum("bhld,bhld->bhl", phi(q), phi(k).cumsum(2))[..., None] + 1e-6
        )
        return (o + o2 + lin).transpose(1, 2).reshape(b, l, d)

    def forward(self, x):
        x = x + checkpoint(self.ssm, self.n1(x), use_reentrant=False)
        x = x + self.attend(self.n2(x))
        y, aux = self.moe(x)
        return self.head(x + y), aux


net = fill(Net())
x, y = N(2, 6, 8), torch.from_numpy(rng.integers(0, 5, (2, 6)))
opt = torch.optim.AdamW(net.parameters(), 3e-3)
acts = {}
handles = [
    m.register_forward_hook(lambda m, i, o, n=n: acts.__setitem__(n, o.detach()))
    for n, m in net.named_modules()
    if isinstance(m, nn.Linear) and "experts" not in n
]
trace = []
for _ in range(4):
    out, aux = net(x)
    loss = F.cross_entropy(out.flatten(0, 1), y.flatten()) + 0.01 * aux
    opt.zero_grad()
    loss.backward()
    opt.step()
    trace.append((loss.item(), aux.item()))
for h in handles:
    h.remove()
for name, m in list(net.named_modules()):
    if isinstance(m, nn.Linear) and name in ("qkv", "head"):
        setattr(net, name, LoRA(m))
trainable = {n: p for n, p in net.named_parameters() if n.endswith((".a", ".b"))}
for n, p in net.named_parameters():
    p.requires_grad_(n in trainable)
opt = torch.optim.Adam(trainable.values(), lr=0.05)
for _ in range(3):
    opt.zero_grad()
    F.cross_entropy(net(x)[0].flatten(0, 1), y.flatten()).backward()
    opt.step()
mha = fill(nn.MultiheadAttention(8, 2, batch_first=True))
pad = torch.tensor([[False] * 6, [False] * 4 + [True] * 2])
causal = nn.Transformer.generate_square_subsequent_mask(6)
o, w = mha(x, x, x, key_padding_mask=pad, attn_mask=causal, average_attn_weights=False)
enc = fill(
    nn.TransformerEncoder(
        nn.TransformerEncoderLayer(
            8, 2, 16, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        ),
        2,
        enable_nested_tensor=False,
    )
).train()
e = enc(x, mask=causal, is_causal=True)
assert_close(e, e.clone(), rtol=1e-7, atol=1e-9)
OUT = {
    "trace": trace,
    "acts": {k: v.mean() for k, v in acts.items()},
    "lora": [p.detach() for p in trainable.values()],
    "o": o.detach(),
    "w": w.detach(),
    "e": e.detach(),
}
