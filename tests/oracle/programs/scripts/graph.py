import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(38)
N, E = 14, 40
src, dst = torch.from_numpy(rng.integers(0, N, E)), torch.from_numpy(rng.integers(0, N, E))
edge_index = torch.stack([src, dst])
loops = torch.arange(N).unsqueeze(0).repeat(2, 1)
edge_index = torch.cat([edge_index, loops], dim=1)
deg = torch.zeros(N).scatter_add_(0, edge_index[1], torch.ones(edge_index.size(1)))


class GCN(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o, bias=False)
        self.bias = nn.Parameter(torch.zeros(o))

    def forward(self, x, ei):
        norm = deg.pow(-0.5)[ei[0]] * deg.rsqrt()[ei[1]]
        msg = self.lin(x)[ei[0]] * norm.view(-1, 1)
        return x.new_zeros(x.size(0), msg.size(1)).index_add(0, ei[1], msg) + self.bias


class GAT(nn.Module):
    def __init__(self, i, o, heads=2):
        super().__init__()
        self.h, self.o = heads, o
        self.lin = nn.Linear(i, o * heads, bias=False)
        self.att = nn.Parameter(torch.empty(1, heads, 2 * o))

    def forward(self, x, ei):
        h = self.lin(x).view(-1, self.h, self.o)
        a = F.leaky_relu((torch.cat([h[ei[0]], h[ei[1]]], -1) * self.att).sum(-1), 0.2)
        idx = ei[1].unsqueeze(-1).expand_as(a)
        mx = torch.full((x.size(0), self.h), float("-inf")).scatter_reduce(
            0, idx, a.detach(), reduce="amax"
        )
        a = (a - mx[ei[1]]).exp()
        den = torch.zeros(x.size(0), self.h).scatter_add(0, idx, a)
        a = a / (den[ei[1]] + 1e-16)
        out = torch.zeros(x.size(0), self.h, self.o).index_add_(
            0, ei[1], h[ei[0]] * a.unsqueeze(-1)
        )
        return out.flatten(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2, self.g = GCN(5, 8), GAT(8, 4), nn.GRUCell(8, 8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        h = F.elu(self.c1(x, edge_index))
        h = self.g(F.elu(self.c2(h, edge_index)), h)
        return self.out(h), h


net = Net()
for p in net.parameters():
    p.data = torch.from_numpy(rng.normal(0, 0.4, tuple(p.shape)))
x, y = torch.from_numpy(rng.normal(size=(N, 5))), torch.from_numpy(rng.integers(0, 3, N))
mask = torch.from_numpy(rng.random(N) < 0.6)
opt = torch.optim.Adam(net.parameters(), lr=0.02, weight_decay=5e-4)
ls = []
for _ in range(12):
    out, h = net(x)
    loss = F.cross_entropy(out[mask], y[mask])
    opt.zero_grad()
    loss.backward()
    opt.step()
    ls.append(loss.item())
batch = torch.tensor([0] * 6 + [1] * 8)
pooled = torch.zeros(2, 8).scatter_reduce(
    0, batch[:, None].expand(-1, 8), h, "mean", include_self=False
)
A = torch.zeros(N, N).index_put(
    (edge_index[0], edge_index[1]), torch.ones(edge_index.size(1)), accumulate=True
)
lap = torch.diag(A.sum(1)) - (A + A.T) / 2
ev = torch.linalg.eigvalsh(lap)
cnt = torch.bincount(edge_index[1], minlength=N)
u, inv, c = torch.unique(edge_index[0], return_inverse=True, return_counts=True)
link = torch.sigmoid((h[src] * h[dst]).sum(-1))
OUT = dict(
    l=ls,
    pooled=pooled,
    ev=ev,
    cnt=cnt,
    u=u,
    inv=inv,
    c=c,
    link=link,
    nz=torch.nonzero(A > 1)[:5],
    ap=torch.addmm(x, A, x),
)
