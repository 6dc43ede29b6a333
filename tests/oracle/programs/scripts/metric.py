import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(29)


class Embed(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(6, 12), nn.PReLU(), nn.Linear(12, 12), nn.RReLU(0.1, 0.1), nn.Linear(12, 4)
        )

    def forward(self, x):
        return F.normalize(self.net(x), p=2, dim=1)


net = Embed()
for p in net.parameters():
    p.data = torch.from_numpy(rng.normal(0.2, 0.4, tuple(p.shape)))
x = torch.from_numpy(rng.normal(size=(36, 6)))
labels = torch.from_numpy(np.repeat(np.arange(6), 6))
x = x + 2 * F.one_hot(labels, 6)


def batch_hard(emb, labels, margin=0.3):
    d = torch.cdist(emb, emb)
    same = labels[:, None] == labels[None, :]
    eye = torch.eye(len(labels), dtype=torch.bool)
    hp = d.masked_fill(~(same & ~eye), 0).max(1)[0]
    hn = d.masked_fill(same, float("inf")).min(1)[0]
    return F.relu(hp - hn + margin).mean()


opt = torch.optim.ASGD(net.parameters(), lr=0.05)
triplet = nn.TripletMarginLoss(margin=0.5, p=2, swap=True)
custom = nn.TripletMarginWithDistanceLoss(
    distance_function=lambda a, b: 1.0 - F.cosine_similarity(a, b), margin=0.2
)
proxies = nn.Parameter(torch.from_numpy(rng.normal(size=(6, 4))))
ls = []
for it in range(10):
    e = net(x)
    a, p_, n_ = e[0::6], e[1::6], e[6:].roll(6, 0)[0::6]
    n_ = e.roll(-6, 0)[0::6]
    arc = torch.acos((e @ F.normalize(proxies).T).clamp(-1 + 1e-7, 1 - 1e-7))
    logits = 8 * torch.cos(arc + 0.2 * F.one_hot(labels, 6))
    loss = (
        batch_hard(e, labels)
        + triplet(a, p_, n_)
        + custom(a, p_, n_)
        + 0.1 * F.cross_entropy(logits, labels)
    )
    loss = (
        loss
        + 0.1 * nn.CosineEmbeddingLoss(margin=0.1)(a, n_, -torch.ones(6))
        + 0.1 * nn.MarginRankingLoss(0.1)(e[:, 0], e[:, 1], torch.sign(e[:, 2].detach()))
    )
    loss = (
        loss
        + 0.1 * nn.HingeEmbeddingLoss()(F.pairwise_distance(a, n_), -torch.ones(6))
        + 0.05 * nn.MultiMarginLoss()(logits, labels)
        + 0.05 * nn.MultiLabelSoftMarginLoss()(logits, F.one_hot(labels, 6).double())
    )
    opt.zero_grad()
    loss.backward()
    opt.step()
    ls.append(loss.item())
net.eval()
e = net(x).detach()
dist = torch.cdist(e, e)
dist.fill_diagonal_(float("inf"))
nn1 = labels[dist.argmin(1)]
recall = (nn1 == labels).double().mean()
pd = F.pdist(e[:6])
kmeans = torch.stack([e[labels == k].mean(0) for k in labels.unique()])
OUT = dict(
    l=ls,
    recall=recall,
    pd=pd,
    km=kmeans,
    sil=(dist.kthvalue(2, dim=1).values - dist.min(1).values).mean(),
)
