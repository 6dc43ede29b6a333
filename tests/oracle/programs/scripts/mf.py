import numpy as np
import torch
from torch import nn

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(41)
U, I, K = 15, 12, 4


class MF(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Embedding(U, K, sparse=False), nn.Embedding(I, K)
        self.ub, self.ib = nn.Embedding(U, 1), nn.Embedding(I, 1)
        self.mu = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(2 * K, 8), nn.Hardsigmoid(), nn.Linear(8, 1))
        self.bil = nn.Bilinear(K, K, 1)

    def forward(self, u, i):
        p, q = self.user(u), self.item(i)
        lin = torch.sum(p * q, -1) + self.ub(u).squeeze() + self.ib(i).squeeze() + self.mu
        return lin + self.mlp(torch.cat((p, q), -1)).view(-1) + self.bil(p, q).flatten()


net = MF()
for p in net.parameters():
    nn.init.normal_(p, 0, 0.1)
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.2, p.shape)))
u, i = torch.from_numpy(rng.integers(0, U, 100)), torch.from_numpy(rng.integers(0, I, 100))
r = torch.from_numpy(rng.integers(1, 6, 100).astype(float))
groups = [
    {"params": [p for n, p in net.named_parameters() if "mlp" not in n]},
    {"params": net.mlp.parameters(), "lr": 1e-2},
]
opt = torch.optim.Adam(groups, lr=0.05)
opt.add_param_group({"params": [extra := nn.Parameter(torch.ones(1))]})
pl = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, "min", 0.5, patience=1, threshold=0.5)
ls = []
for e in range(12):
    loss = nn.functional.mse_loss(net(u, i) * extra, r) + 1e-3 * (
        net.user.weight.norm() ** 2 + net.item.weight.norm() ** 2
    )
    opt.zero_grad()
    loss.backward()
    opt.step()
    pl.step(loss.item())
    ls.append(loss.item())
# ALS by batched solves, NMF by multiplicative updates, PCA by SVD
R = torch.zeros(U, I)
M = torch.zeros(U, I, dtype=torch.bool)
R[u, i] = r
M[u, i] = True
P, Q = (torch.from_numpy(rng.normal(size=s)) for s in ((U, K), (I, K)))
for _ in range(5):
    for A, B, m, t in ((P, Q, M, R), (Q, P, M.T, R.T)):
        G = torch.einsum("ni,ik,il->nkl", m.to(B.dtype), B, B) + 0.1 * torch.eye(K)
        A.copy_(torch.linalg.solve(G, ((m * t) @ B).unsqueeze(-1)).squeeze(-1))
rmse = ((P @ Q.T - R)[M] ** 2).mean().sqrt()
W, H = (torch.from_numpy(rng.random(s)) for s in ((U, K), (K, I)))
for _ in range(10):
    H *= (W.T @ R) / (W.T @ W @ H + 1e-9)
    W *= (R @ H.T) / (W @ H @ H.T + 1e-9)
Uu, S, Vh = torch.linalg.svd(R - R.mean(0, keepdim=True), full_matrices=False)
rank = torch.argsort(net(torch.zeros(I, dtype=torch.long), torch.arange(I)), descending=True)
bpr = -nn.functional.logsigmoid(net(u[:20], i[:20]) - net(u[:20], i[20:40])).mean()
OUT = dict(
    l=ls,
    rmse=rmse,
    nmf=torch.linalg.norm(R - W @ H),
    S=S,
    rank=rank,
    bpr=bpr,
    lrs=[g["lr"] for g in opt.param_groups],
    ex=(S[:2] ** 2).sum() / S.square().sum(),
    dcg=(1 / torch.log2(torch.arange(5) + 2.0)).sum(),
)
