import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Chi2,
    ContinuousBernoulli,
    Dirichlet,
    FisherSnedecor,
    Gamma,
    Independent,
    LKJCholesky,
    MixtureSameFamily,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
    Wishart,
    constraints,
    kl_divergence,
    transform_to,
)

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(15)


class MDN(nn.Module):
    def __init__(self, i, o, k, hidden=12):
        super().__init__()
        self.k, self.o = k, o
        self.body = nn.Sequential(
            nn.Linear(i, hidden), nn.Tanhshrink(), nn.Linear(hidden, hidden), nn.GELU()
        )
        self.pi, self.mu, self.log_sigma = (
            nn.Linear(hidden, k),
            nn.Linear(hidden, k * o),
            nn.Linear(hidden, k * o),
        )

    def forward(self, x):
        h = self.body(x)
        comp = Independent(
            Normal(
                self.mu(h).view(-1, self.k, self.o),
                self.log_sigma(h).view(-1, self.k, self.o).exp().add(1e-3),
            ),
            1,
        )
        return MixtureSameFamily(Categorical(logits=self.pi(h)), comp)


class CountHead(nn.Module):
    """Zero-inflated negative binomial, of single-cell models."""

    def __init__(self, i, o):
        super().__init__()
        self.mean, self.drop = nn.Linear(i, o), nn.Linear(i, o)
        self.log_theta = nn.Parameter(torch.zeros(o))

    def log_prob(self, x, counts):
        mu, theta, pi = F.softplus(self.mean(x)) + 1e-4, self.log_theta.exp(), self.drop(x)
        nb = NegativeBinomial(
            total_count=theta, logits=(mu.log() - theta.log()), validate_args=False
        )
        zero = torch.logaddexp(
            F.logsigmoid(pi), F.logsigmoid(-pi) + nb.log_prob(torch.zeros_like(counts))
        )
        return torch.where(counts == 0, zero, F.logsigmoid(-pi) + nb.log_prob(counts))


y = torch.from_numpy(rng.uniform(-1, 1, (50, 2)))
x = (y + 0.3 * torch.sin(2 * math.pi * y) + 0.05 * torch.from_numpy(rng.normal(size=(50, 2)))).sum(
    1, keepdim=True
)
net = MDN(1, 2, 3)
counts = torch.from_numpy(rng.poisson(2.0, (50, 4)) * (rng.random((50, 4)) > 0.4)).double()
head = CountHead(1, 4)
for p in [*net.parameters(), *head.parameters()]:
    p.data = torch.from_numpy(rng.normal(0, 0.3, p.shape))
opt = torch.optim.Adamax(
    [{"params": net.parameters()}, {"params": head.parameters(), "lr": 0.05}], lr=0.02
)
sched = torch.optim.lr_scheduler.CyclicLR(
    opt, base_lr=0.001, max_lr=[0.02, 0.05], step_size_up=4, cycle_momentum=False
)
log = []
for it in range(12):
    nll = -net(x).log_prob(y).mean() - head.log_prob(x, counts).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
    sched.step()
    log.append([nll.item(), *sched.get_last_lr()])
d = net(x[:4])
raw = torch.from_numpy(rng.normal(size=(3, 3))).requires_grad_()
con = {}
for name, c in dict(
    pos=constraints.positive,
    simplex=constraints.simplex,
    unit=constraints.unit_interval,
    chol=constraints.lower_cholesky,
    corr=constraints.corr_cholesky,
    ge=constraints.greater_than(2.0),
).items():
    try:
        con[name] = transform_to(c)(raw if name != "corr" else raw[0])
    except NotImplementedError as e:
        con[name] = str(e)[:10]
logs = [
    FisherSnedecor(3.0, 7.0).log_prob(torch.tensor([0.5, 2.0])),
    FisherSnedecor(3.0, 7.0).variance,
    ContinuousBernoulli(torch.tensor([0.2, 0.5, 0.9])).log_prob(torch.tensor([0.3, 0.6, 0.1])),
    ContinuousBernoulli(0.3).mean,
    ContinuousBernoulli(0.3).entropy(),
    Wishart(torch.tensor(4.0), torch.eye(2) + 0.2).log_prob(torch.tensor([[1.0, 0.3], [0.3, 2.0]])),
    Wishart(4.0, torch.eye(2)).mean,
    LKJCholesky(3, 0.7).log_prob(
        con["corr"].detach() if not isinstance(con["corr"], str) else torch.eye(3)
    ),
    kl_divergence(Chi2(3.0), Gamma(2.0, 1.0)),
    StudentT(4.0, 1.0, 2.0).entropy(),
    kl_divergence(Beta(2.0, 3.0), Beta(1.0, 1.0)),
    kl_divergence(Poisson(2.0), Poisson(3.0)),
    Binomial(5, 0.3).log_prob(torch.tensor(2.0)),
    kl_divergence(Bernoulli(0.2), Bernoulli(0.6)),
    kl_divergence(Dirichlet(torch.tensor([1.0, 2.0])), Dirichlet(torch.tensor([3.0, 0.5]))),
]
OUT = dict(log=log, mean=d.mean, var=d.variance, lp=d.log_prob(y[:4]), con=con, logs=logs)
