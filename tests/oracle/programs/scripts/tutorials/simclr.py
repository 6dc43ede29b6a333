"""NT-Xent with a momentum queue, triplets mined in the batch, a mixture of experts as head."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    TensorDataset,
    random_split,
)

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(36)


class TopKGate(nn.Module):
    def __init__(self, d, experts, k):
        super().__init__()
        self.gate = nn.Linear(d, experts, bias=False)
        self.noise = nn.Linear(d, experts, bias=False)
        self.k = k

    def forward(self, x, eps):
        logits = self.gate(x) + eps * F.softplus(self.noise(x))
        top, index = logits.topk(self.k, dim=-1)
        weights = torch.full_like(logits, float("-inf")).scatter(-1, index, top).softmax(-1)
        share = F.one_hot(index[:, 0], logits.shape[-1]).to(x).mean(0)
        balance = logits.shape[-1] * (share * logits.softmax(-1).mean(0)).sum()
        z = torch.logsumexp(logits, -1).square().mean()
        return weights, index, balance + 0.01 * z


class MoE(nn.Module):
    def __init__(self, d=6, experts=4, k=2, capacity=7):
        super().__init__()
        self.gate = TopKGate(d, experts, k)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(d, 8), nn.GLU(), nn.Linear(4, d)) for _ in range(experts)
        )
        self.capacity = capacity

    def forward(self, x, eps):
        weights, index, aux = self.gate(x, eps)
        out = torch.zeros_like(x)
        used = []
        for e, expert in enumerate(self.experts):
            rows = torch.nonzero((index == e).any(-1), as_tuple=True)[0][: self.capacity]
            used.append(len(rows))
            if len(rows):
                out = out.index_add(0, rows, expert(x[rows]) * weights[rows, e, None])
        return x + out, aux, used


class Encoder(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, d), nn.ELU(), nn.BatchNorm1d(d, affine=False))
        self.moe = MoE(d)

    def forward(self, x, eps):
        z, aux, used = self.moe(self.body(x), eps)
        return F.normalize(z, dim=-1), aux, used


def nt_xent(a, b, t=0.5):
    z = torch.cat([a, b])
    sim = z @ z.T / t
    sim.fill_diagonal_(float("-inf"))
    n = len(a)
    labels = torch.arange(2 * n).roll(n)
    return F.cross_entropy(sim, labels)


def batch_hard(z, y, margin=0.3):
    dist = torch.cdist(z, z, compute_mode="donot_use_mm_for_euclid_dist")
    same = y[:, None] == y[None]
    far = dist.masked_fill(~same, 0).amax(1)
    near = dist.masked_fill(same, 9.0).min(dim=1).values
    return F.relu(far - near + margin).mean()


x = torch.from_numpy(rng.normal(size=(16, 5)))
y = torch.from_numpy(rng.integers(0, 3, 16))
net, momentum = Encoder(), Encoder()
for p, q in zip(net.parameters(), momentum.parameters()):
    p.data = torch.from_numpy(rng.normal(0, 0.5, p.shape))
    q.data.copy_(p.data)
    q.requires_grad_(False)
queue = F.normalize(torch.from_numpy(rng.normal(size=(6, 12))), dim=0)
pointer = 0
triplet = nn.TripletMarginWithDistanceLoss(
    distance_function=lambda u, v: 1 - F.cosine_similarity(u, v), margin=0.2, swap=True
)
opt = torch.optim.Adamax(net.parameters(), lr=0.02)
sched = torch.optim.lr_scheduler.SequentialLR(
    opt,
    [
        torch.optim.lr_scheduler.LinearLR(opt, 0.2, total_iters=3),
        torch.optim.lr_scheduler.ExponentialLR(opt, 0.9),
    ],
    milestones=[3],
)
loader = DataLoader(TensorDataset(x, y), batch_sampler=BatchSampler(range(16), 8, True))
log = []
for epoch in range(3):
    for xb, yb in loader:
        one = xb + torch.from_numpy(rng.normal(0, 0.1, xb.shape))
        two = xb * torch.from_numpy(rng.uniform(0.8, 1.2, xb.shape))
        eps = torch.from_numpy(rng.normal(size=(8, 4)))
        a, aux, used = net(one, eps)
        b, _, _ = net(two, -eps)
        with torch.no_grad():
            k, _, _ = momentum(two, eps)
        pos = torch.einsum("nc,nc->n", a, k)[:, None]
        moco = F.cross_entropy(torch.cat([pos, a @ queue.clone()], 1) / 0.2, torch.zeros(8).long())
        loss = nt_xent(a, b) + 0.1 * aux + batch_hard(a, yb) + moco
        loss = loss + triplet(a, b, b.roll(1, 0))
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for p, q in zip(net.parameters(), momentum.parameters()):
                q.lerp_(p, 0.1)
            at = (pointer + torch.arange(8)) % queue.shape[1]
            queue[:, at] = k.T
            pointer = (pointer + 8) % queue.shape[1]
        log.append([loss.item(), aux.item(), used, opt.param_groups[0]["lr"]])
    sched.step()
net.eval()
z, _, _ = net(x, torch.zeros(16, 4))
sim = z @ z.T
votes = torch.zeros(16, 3).scatter_add(1, y[sim.topk(4).indices], sim.topk(4).values)
u, s, vh = torch.linalg.svd(z - z.mean(0), full_matrices=False)
parts = random_split(
    TensorDataset(x), [0.5, 0.25, 0.25], generator=torch.Generator().manual_seed(1)
)
OUT = dict(
    log=log,
    z=z,
    votes=votes,
    s=s,
    queue=queue,
    pointer=pointer,
    q=list(momentum.parameters()),
    sizes=[len(p) for p in parts],
    grads=[None if p.grad is None else p.grad for p in net.parameters()],
)
