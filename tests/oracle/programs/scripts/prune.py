import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.default_rng(33)
net = nn.Sequential(nn.Linear(8, 20), nn.CELU(), nn.Linear(20, 3)).double()
for p in net.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.4, p.shape)))
x = torch.from_numpy(rng.normal(size=(50, 8)))
y = torch.from_numpy(rng.integers(0, 3, 50))
masks, handles = {}, []
weights = {n: p for n, p in net.named_parameters() if n.endswith("weight")}
allw = torch.cat([p.detach().abs().flatten() for p in weights.values()])
thr = torch.quantile(allw, 0.6)
thr2 = allw.kthvalue(int(0.6 * allw.numel())).values


def make_hook(mask):
    return lambda grad: grad * mask


for n, p in weights.items():
    masks[n] = (p.detach().abs() > thr).to(p.dtype)
    with torch.no_grad():
        p.mul_(masks[n])
    handles.append(p.register_hook(make_hook(masks[n])))
pre = net[2].register_forward_pre_hook(lambda m, args: (args[0] * (args[0].abs() > 0.01),))
grads = {}


def bhook(module, gin, gout):
    grads[module.__class__.__name__] = [None if g is None else g.norm().item() for g in gin] + [
        gout[0].norm().item()
    ]


bh = net[1].register_full_backward_hook(bhook)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
ls = []
for _ in range(10):
    loss = F.cross_entropy(net(x), y) + 1e-3 * sum(p.abs().sum() for p in net.parameters())
    opt.zero_grad()
    loss.backward()
    opt.step()
    ls.append(loss.item())
sparsity = {n: (p == 0).double().mean().item() for n, p in weights.items()}
for h in handles:
    h.remove()
pre.remove()
bh.remove()
# SNIP score and structured pruning
g = torch.autograd.grad(F.cross_entropy(net(x), y), list(net.parameters()))
snip = torch.cat([(p * gg).abs().flatten() for p, gg in zip(net.parameters(), g)])
order = net[0].weight.norm(dim=1).argsort(descending=True)[:12]
small = nn.Sequential(nn.Linear(8, 12), nn.CELU(), nn.Linear(12, 3)).double()
with torch.no_grad():
    small[0].weight.copy_(net[0].weight[order])
    small[0].bias.copy_(net[0].bias.index_select(0, order))
    small[2].weight.copy_(net[2].weight[:, order])
    small[2].bias.copy_(net[2].bias)
import torch.nn.utils.prune as prune

lin = nn.Linear(4, 4).double()
lin.weight.data = torch.arange(16.0, dtype=torch.float64).view(4, 4) - 7.5
prune.l1_unstructured(lin, name="weight", amount=0.5)
names = sorted(lin.state_dict())
prune.remove(lin, "weight")
OUT = dict(
    l=ls,
    sp=sparsity,
    snip=snip.topk(5).values,
    small=small(x)[:3],
    g=grads,
    thr=[thr, thr2],
    lin=lin.weight,
    names=names,
)
