import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd.functional import hvp, jacobian, jvp, vhp, vjp
from torch.func import functional_call, hessian, linearize

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(42)
X, y = torch.from_numpy(rng.normal(size=(40, 4))), torch.from_numpy(rng.integers(0, 3, 40))
net = nn.Sequential(nn.Linear(4, 5), nn.Softplus(), nn.Linear(5, 3))
shapes = [p.shape for p in net.parameters()]
w = torch.from_numpy(rng.normal(0, 0.5, sum(s.numel() for s in shapes)))


def unflat(w):
    parts = torch.split(w, [s.numel() for s in shapes])
    return {n: v.view(s) for (n, _), v, s in zip(net.named_parameters(), parts, shapes)}


def loss(w, X=X, y=y):
    return F.cross_entropy(functional_call(net, unflat(w), (X,)), y) + 0.05 * w.square().sum()


p = nn.Parameter(w.clone())
lb = torch.optim.LBFGS(
    [p], lr=1, max_iter=60, tolerance_change=1e-12, line_search_fn="strong_wolfe"
)


def closure():
    lb.zero_grad()
    l = loss(p)
    l.backward()
    return l


lb.step(closure)
w = p.detach()
H = hessian(loss)(w)
gt = torch.autograd.grad(loss(p, X[:1], y[:1]), p)[0]
exact = torch.linalg.solve(H, gt)
v = gt.clone()
for _ in range(400):
    v = gt + v - 0.2 * hvp(loss, w, v)[1]
lissa = v * 0.2
infl = -torch.stack(
    [torch.autograd.grad(loss(p, X[i : i + 1], y[i : i + 1]), p)[0] @ exact for i in range(6)]
)
z = torch.from_numpy(rng.choice([-1.0, 1.0], (16, len(w))))
tr = torch.stack([zz @ vhp(loss, w, zz)[1] for zz in z])
q = torch.ones_like(w) / len(w) ** 0.5
Q, al, be = [q], [], []
for k in range(8):
    u = hvp(loss, w, Q[-1])[1]
    al.append(u @ Q[-1])
    for qq in Q:
        u = u - (u @ qq) * qq
    be.append(u.norm())
    Q.append(u / be[-1])
Tm = (
    torch.diag(torch.stack(al))
    + torch.diag_embed(torch.stack(be[:-1]), 1)
    + torch.diag(torch.stack(be[:-1]), -1)
)
ritz = torch.linalg.eigvalsh(Tm)


def f(w):
    return functional_call(net, unflat(w), (X,))


out, lin = linearize(f, w)
d = torch.from_numpy(rng.normal(size=w.shape))
Jd = lin(d)
Pp = out.softmax(-1)
HJ = Pp * Jd - Pp * (Pp * Jd).sum(-1, keepdim=True)
ggn = vjp(f, w, HJ)[1] / 40 + 0.1 * d
J = jacobian(f, w, vectorize=True, strategy="forward-mode")
Hl = torch.diag_embed(Pp) - torch.einsum("nc,nd->ncd", Pp, Pp)
G = torch.einsum("ncp,ncd,ndq->pq", J, Hl, J) / 40 + 0.1 * torch.eye(len(w))
cov = torch.cholesky_inverse(torch.linalg.cholesky(40 * G))
pv = torch.einsum("ncp,pq,ncq->nc", J, cov, J)
ev = 0.5 * torch.logdet(40 * G) + 40 * loss(w)
OUT = dict(
    exact=exact,
    lissa=(lissa - exact).norm().item() < 1e-2,
    infl=infl,
    tr=tr,
    trace=H.trace(),
    ritz=ritz,
    ggn=ggn,
    gap=(G @ d - ggn).abs().max().item() < 1e-10,
    pv=pv,
    ev=ev,
    jv=jvp(f, w, d)[1],
)
