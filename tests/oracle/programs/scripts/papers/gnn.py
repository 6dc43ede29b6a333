import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(17)
N = 15
ei = torch.from_numpy(np.unique(rng.integers(0, N, (2, 60)), axis=1))
ei = ei[:, ei[0] != ei[1]]
ei = torch.cat([ei, ei.flip(0)], 1).unique(dim=1)
loops = torch.arange(N).repeat(2, 1)
ej = torch.cat([ei, loops], dim=1)


def softmax(src, index, n):
    mx = torch.full((n,) + src.shape[1:], -torch.inf).scatter_reduce(
        0, index.view(-1, 1).expand_as(src), src.detach(), "amax"
    )
    e = (src - mx.index_select(0, index)).exp()
    s = torch.zeros_like(mx).scatter_add(0, index.unsqueeze(-1).expand_as(e), e)
    return e / (s[index] + 1e-16)


class GCN(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.l = nn.Linear(i, o, bias=False)
        self.b = nn.Parameter(torch.zeros(o))

    def forward(self, x, e):
        row, col = e
        deg = torch.zeros(N).index_add(0, row, torch.ones(row.numel()))
        w = deg.pow(-0.5)
        nrm = w[row] * w[col]
        return (
            torch.zeros(N, self.b.numel()).index_add_(0, row, nrm[:, None] * self.l(x)[col])
            + self.b
        )


class GAT(nn.Module):
    def __init__(self, i, o, h):
        super().__init__()
        self.l, self.h, self.o = nn.Linear(i, h * o, bias=False), h, o
        self.a = nn.ParameterDict(
            {"s": nn.Parameter(torch.zeros(1, h, o)), "d": nn.Parameter(torch.zeros(1, h, o))}
        )

    def forward(self, x, e):
        x = self.l(x).view(-1, self.h, self.o)
        al = (x * self.a["s"]).sum(-1)[e[1]] + (x * self.a["d"]).sum(-1)[e[0]]
        al = softmax(F.leaky_relu(al, 0.2), e[0], N)
        m = al.unsqueeze(-1) * x[e[1]]
        return (
            torch.zeros(N, self.h, self.o)
            .scatter_add_(0, e[0].view(-1, 1, 1).expand_as(m), m)
            .flatten(1)
        )


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleDict({"gcn": GCN(4, 8), "gat": GAT(8, 4, 2)})
        self.eps = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU6(), nn.Linear(8, 3))

    def forward(self, x):
        x = F.elu(self.convs["gcn"](x, ej))
        x = F.selu(self.convs["gat"](x, ej))
        mx = torch.zeros(N, 8).index_reduce(0, ei[0], x[ei[1]], "amax", include_self=False)
        return self.mlp((1 + self.eps) * x + mx), x


net = Net()
for p in net.parameters():
    p.data = torch.from_numpy(rng.normal(0, 0.3, tuple(p.shape)))
X = torch.from_numpy(rng.normal(size=(N, 4)))
Y = torch.from_numpy(rng.integers(0, 3, N))
mask = torch.from_numpy(rng.random(N) < 0.6)
net.eval()
opt = torch.optim.Adam(
    [
        {"params": net.convs.parameters(), "weight_decay": 5e-4},
        {"params": net.mlp.parameters(), "lr": 0.02},
        {"params": [net.eps]},
    ],
    lr=0.01,
)
log = []
for it in range(6):
    out, h = net(X)
    neg = torch.from_numpy(rng.integers(0, N, (2, 20)))
    lk = F.binary_cross_entropy_with_logits(
        (h[ei[0, :20]] * h[ei[1, :20]]).sum(-1), torch.ones(20), pos_weight=torch.tensor(2.0)
    )
    lk = lk + F.binary_cross_entropy(
        torch.sigmoid((h[neg[0]] * h[neg[1]]).sum(-1)), torch.zeros(20)
    )
    loss = F.nll_loss(out[mask].log_softmax(-1), Y[mask]) + 0.1 * lk
    opt.zero_grad()
    loss.backward()
    opt.step()
    log.append(loss.item())
Ad = torch.zeros(N, N)
Ad[ei[0], ei[1]] = 1
Lap = torch.diag(Ad.sum(1)) - Ad
ev = torch.linalg.eigvalsh(Lap)
cheb = [torch.eye(N), Lap / ev[-1] * 2 - torch.eye(N)]
for _ in range(3):
    cheb.append(2 * cheb[1] @ cheb[-1] - cheb[-2])
OUT = dict(
    log=log,
    out=out,
    ev=ev,
    cheb=torch.stack(cheb).sum((1, 2)),
    pr=torch.linalg.matrix_power(Ad / Ad.sum(0, keepdim=True).clamp(min=1), 8)
    @ torch.full((N,), 1 / N),
)
