import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, jacrev, vmap
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.utils.data import (
    DataLoader,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_convert,
)

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(32)
X = torch.from_numpy(rng.normal(size=(48, 4)))
Y = (X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.4).long()


class EKFAC(torch.optim.Optimizer):
    """Kronecker factors collected by hooks, with running averages and damping."""

    def __init__(self, net, lr=0.1, damping=1e-2, decay=0.9):
        self.mods = [m for m in net.modules() if isinstance(m, nn.Linear)]
        super().__init__(net.parameters(), dict(lr=lr, damping=damping, decay=decay))
        for m in self.mods:
            m.register_forward_pre_hook(self._save_input)
            m.register_full_backward_hook(self._save_grad)

    def _save_input(self, mod, i):
        a = torch.cat([i[0], torch.ones_like(i[0][:, :1])], 1).detach()
        self.state[mod]["x"] = a.t() @ a / a.size(0)

    def _save_grad(self, mod, gi, go):
        g = go[0] * go[0].size(0)
        self.state[mod]["g"] = g.t() @ g / g.size(0)

    @torch.no_grad()
    def step(self, closure=None):
        group = self.param_groups[0]
        for m in self.mods:
            s = self.state[m]
            for k in ("x", "g"):
                s["avg_" + k] = (
                    s[k] if "avg_" + k not in s else s["avg_" + k].lerp(s[k], 1 - group["decay"])
                )
            A, G = s["avg_x"], s["avg_g"]
            pi = torch.sqrt((A.trace() * G.shape[0]) / (G.trace() * A.shape[0] + 1e-12))
            d = group["damping"] ** 0.5
            Ai = torch.inverse(A + pi * d * torch.eye(A.shape[0]))
            Gi = torch.cholesky_inverse(torch.linalg.cholesky(G + d / pi * torch.eye(G.shape[0])))
            W = torch.cat([m.weight.grad, m.bias.grad[:, None]], 1)
            U = Gi @ W @ Ai
            nu = min(1.0, (1e-1 / (U * W).sum().abs().clamp_min(1e-12)).sqrt().item())
            m.weight.sub_(U[:, :-1], alpha=group["lr"] * nu)
            m.bias.sub_(U[:, -1], alpha=group["lr"] * nu)


class MCDropout(nn.Dropout):
    def forward(self, x):
        mask = torch.from_numpy((rng.random(tuple(x.shape)) > self.p).astype(float))
        return x * mask / (1 - self.p)


net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), MCDropout(0.1), nn.Linear(8, 2))
with torch.no_grad():
    for p in net.parameters():
        p.normal_(0, 0.1).copy_(torch.from_numpy(rng.normal(0, 0.4, tuple(p.shape))))
opt = EKFAC(net)
log = []
for it in range(10):
    opt.zero_grad()
    loss = F.cross_entropy(net(X), Y)
    loss.backward()
    opt.step()
    log.append(loss.item())
with torch.no_grad():
    probs = torch.stack([net(X[:6]).softmax(-1) for _ in range(5)])
ent = -(probs.mean(0) * probs.mean(0).log()).sum(-1)
mi = ent + (probs * probs.log()).sum(-1).mean(0)
det = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).eval()
det.load_state_dict({k.replace("3.", "2."): v for k, v in net.state_dict().items()})
named = dict(det.named_parameters())
# last-layer Laplace, influence functions, EWC, temperature scaling, conformal sets
J = vmap(jacrev(lambda p, x: functional_call(det, p, (x[None],))[0]), (None, 0))(named, X)
Jf = torch.cat([j.flatten(2) for j in J.values()], -1)
P = det(X).softmax(-1).detach()
Lam = torch.diag_embed(P) - P.unsqueeze(-1) * P.unsqueeze(1)
ggn = torch.einsum("nck,ncd,ndl->kl", Jf, Lam, Jf) + torch.eye(Jf.shape[-1])
post = torch.linalg.inv(ggn)
fvar = torch.einsum("nck,kl,ncl->nc", Jf[:5], post, Jf[:5])
probit = det(X[:5]) / torch.sqrt(1 + torch.pi / 8 * fvar)
pg = vmap(
    grad(lambda p, x, y: F.cross_entropy(functional_call(det, p, (x[None],)), y[None])),
    (None, 0, 0),
)(named, X, Y)
gvec = torch.cat([g.flatten(1) for g in pg.values()], 1).detach()
infl = gvec[:3] @ torch.linalg.solve(ggn.detach(), gvec.T)
fisher = {n: g.detach().pow(2).mean(0) for n, g in pg.items()}
old = parameters_to_vector(det.parameters()).detach().clone()
ewc = sum(
    (fisher[n] * (p - q.detach() * 0.9) ** 2).sum()
    for (n, p), q in zip(det.named_parameters(), det.parameters())
)
vector_to_parameters(old * 0.5, det.parameters())
half = det(X[:3])
vector_to_parameters(old, det.parameters())
T = nn.Parameter(torch.ones(1) * 1.5)
logits = det(X).detach()
bfgs = torch.optim.LBFGS([T], lr=0.1, max_iter=20)


def closure():
    bfgs.zero_grad()
    l = F.cross_entropy(logits / T, Y)
    l.backward()
    return l


bfgs.step(closure)
conf, pred = (logits / T).softmax(-1).max(-1)
bins = torch.bucketize(conf.detach(), torch.linspace(0.5, 1, 6)[1:-1])
ece = sum(
    (bins == b).double().mean()
    * ((pred == Y)[bins == b].double().mean() - conf[bins == b].mean()).abs()
    for b in bins.unique()
)
score = 1 - P.gather(1, Y[:, None]).squeeze(1)
qhat = torch.quantile(score, 0.9, interpolation="higher")
sizes = (qhat >= 1 - P).sum(1)
weights = 1.0 / torch.bincount(Y)[Y].double()
sampler = WeightedRandomSampler(
    weights, num_samples=16, replacement=True, generator=torch.Generator().manual_seed(3)
)
n = [len(b[0]) for b in DataLoader(TensorDataset(X, Y), batch_size=6, sampler=sampler)]
idx = SubsetRandomSampler(range(10), generator=torch.Generator().manual_seed(0))
# Reptile on sines
model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
for p in model.parameters():
    p.data = torch.from_numpy(rng.normal(0, 0.5, p.shape))
for task in range(4):
    before = {k: v.clone() for k, v in model.state_dict().items()}
    ph = rng.uniform(0, 3)
    xs = torch.from_numpy(rng.uniform(-3, 3, (10, 1)))
    for _ in range(3):
        model.zero_grad()
        F.mse_loss(model(xs), torch.sin(xs + ph)).backward()
        for p in model.parameters():
            p.data -= 0.05 * p.grad.data
    after = model.state_dict()
    model.load_state_dict({k: before[k] + (after[k] - before[k]) * 0.5 for k in before})
OUT = dict(
    log=log,
    ent=ent,
    mi=mi,
    fvar=fvar,
    probit=probit,
    infl=infl,
    ewc=ewc,
    half=half,
    T=T,
    ece=ece,
    qhat=qhat,
    sizes=sizes,
    n=n,
    idx=sorted(idx),
    rept=model(xs),
    conv=default_convert([np.ones(2), 3])[0],
)
