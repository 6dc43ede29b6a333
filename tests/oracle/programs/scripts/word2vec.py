import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(40)
V, D = 20, 6
corpus = rng.integers(0, V, 200)


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.u, self.v = nn.Embedding(V, D), nn.Embedding(V, D, max_norm=None)

    def forward(self, c, pos, neg):
        u = self.u(c)
        p = F.logsigmoid((u * self.v(pos)).sum(1))
        n = F.logsigmoid(-torch.bmm(self.v(neg), u.unsqueeze(2)).squeeze(2)).sum(1)
        return -(p + n).mean()


class CBOW(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(V, D, mode="mean")
        self.out = nn.Linear(D, V)

    def forward(self, flat, offsets):
        return self.out(self.bag(flat, offsets))


sg, cb = SkipGram(), CBOW()
for p in [*sg.parameters(), *cb.parameters()]:
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.3, p.shape)))
o1, o2 = torch.optim.SGD(sg.parameters(), lr=0.5), torch.optim.Adagrad(cb.parameters(), lr=0.1)
l1, l2 = [], []
for it in range(10):
    i = rng.integers(2, 198, 16)
    c, pos, neg = (
        torch.from_numpy(v) for v in (corpus[i], corpus[i + 1], rng.integers(0, V, (16, 4)))
    )
    o1.zero_grad()
    loss = sg(c, pos, neg)
    loss.backward()
    o1.step()
    l1.append(loss.item())
    ctx = [corpus[[j - 2, j - 1, j + 1]][: int(rng.integers(1, 4))] for j in i]
    flat = torch.from_numpy(np.concatenate(ctx))
    off = torch.tensor([0] + [len(q) for q in ctx][:-1]).cumsum(0)
    o2.zero_grad()
    loss = F.cross_entropy(cb(flat, off), c)
    loss.backward()
    o2.step()
    l2.append(loss.item())
w = torch.from_numpy(rng.random(flat.numel()))
bag = F.embedding_bag(flat, cb.bag.weight, off, mode="sum", per_sample_weights=w)
mx = nn.EmbeddingBag.from_pretrained(cb.bag.weight.detach(), mode="max")(flat.view(1, -1))
pre = nn.Embedding.from_pretrained(sg.u.weight.detach(), freeze=True)
sim = F.cosine_similarity(pre.weight[None], pre.weight[:, None], dim=-1)
# GloVe
X = torch.zeros(V, V)
for a, b in zip(corpus[:-1], corpus[1:]):
    X[a, b] += 1
ii, jj = X.nonzero(as_tuple=True)
W, C, ba, bb = (
    torch.from_numpy(rng.normal(0, 0.1, s)).requires_grad_() for s in ((V, D), (V, D), (V,), (V,))
)
o3 = torch.optim.Adagrad([W, C, ba, bb], lr=0.05)
for it in range(5):
    o3.zero_grad()
    g = (
        (X[ii, jj] / 100).clamp(max=1) ** 0.75
        * ((W[ii] * C[jj]).sum(1) + ba[ii] + bb[jj] - X[ii, jj].log()) ** 2
    ).sum()
    g.backward()
    o3.step()
asm = nn.AdaptiveLogSoftmaxWithLoss(D, V, [5, 12])
for p in asm.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.3, p.shape)))
OUT = dict(
    l1=l1,
    l2=l2,
    bag=bag,
    mx=mx,
    sim=sim.topk(3, -1).indices,
    g=g,
    asm=asm(pre(c), c).loss,
    rg=pre.weight.requires_grad,
)
