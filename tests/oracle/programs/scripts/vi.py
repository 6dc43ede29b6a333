import numpy as np
import torch
import torch.distributions as D
from torch import nn
from torch.distributions import biject_to, constraints, transform_to

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(13)


class BayesLinear(nn.Module):
    def __init__(self, i, o, prior=1.0):
        super().__init__()
        self.mu = nn.Parameter(torch.from_numpy(rng.normal(0, 0.2, (o, i))))
        self.rho = nn.Parameter(torch.full((o, i), -3.0))
        self.prior = D.Normal(0, prior)

    def forward(self, x):
        sigma = torch.log1p(torch.exp(self.rho))
        eps = torch.from_numpy(rng.normal(size=tuple(self.mu.shape)))
        w = self.mu + sigma * eps
        self.kl = D.kl_divergence(D.Normal(self.mu, sigma), self.prior).sum()
        self.logs = D.Normal(self.mu, sigma).log_prob(w).sum() - self.prior.log_prob(w).sum()
        return x @ w.t()


net = nn.Sequential(BayesLinear(2, 8), nn.Tanh(), BayesLinear(8, 1))
x = torch.from_numpy(rng.normal(size=(40, 2)))
y = torch.sin(x.sum(1, keepdim=True))
opt = torch.optim.Adam(net.parameters(), 0.02)
ls = []
for i in range(25):
    lik = D.Normal(net(x), 0.1).log_prob(y).sum()
    klsum = sum(m.kl for m in net if isinstance(m, BayesLinear))
    loss = -lik + klsum
    opt.zero_grad()
    loss.backward()
    opt.step()
    ls.append(loss.item())

# mixture model by EM-like gradient steps
logits = torch.zeros(3, requires_grad=True)
loc = torch.tensor([-1.0, 0.0, 1.5], requires_grad=True)
raw = torch.zeros(3, requires_grad=True)
data = torch.from_numpy(np.concatenate([rng.normal(-2, 0.3, 30), rng.normal(2, 0.5, 30)]))
opt = torch.optim.Adagrad([logits, loc, raw], lr=0.2)
for i in range(25):
    opt.zero_grad()
    gmm = D.MixtureSameFamily(
        D.Categorical(logits=logits), D.Normal(loc, transform_to(constraints.positive)(raw))
    )
    nll = -gmm.log_prob(data).mean()
    nll.backward()
    opt.step()
b, dcat, dirichlet = (
    D.Beta(torch.tensor([2.0, 3.0]), 1.5),
    D.Categorical(logits=logits),
    D.Dirichlet(torch.tensor([1.0, 2.0, 3.0])),
)
v = torch.tensor([0.2, 0.3, 0.5])
sb = biject_to(constraints.simplex)
OUT = dict(
    ls=ls,
    nll=nll,
    gm=gmm.mean,
    gv=gmm.variance,
    cdf=gmm.cdf(data[:4]),
    beta=b.entropy(),
    klb=D.kl_divergence(b, D.Beta(1.0, 1.0)),
    cat=dcat.entropy(),
    dir=dirichlet.log_prob(v),
    sb=sb.inv(v),
    ladj=sb.log_abs_det_jacobian(sb.inv(v), v),
    pois=D.Poisson(torch.tensor(3.0)).log_prob(torch.arange(4.0)),
    nb=D.NegativeBinomial(5, probs=torch.tensor(0.3)).log_prob(torch.tensor(2.0)),
    lap=D.Laplace(0.0, 1.0).icdf(torch.tensor(0.7)),
    lkj=D.LogNormal(0.0, 0.5).mean,
    wei=D.Weibull(torch.tensor(1.0), torch.tensor(2.0)).log_prob(torch.tensor(0.5)),
    oh=D.OneHotCategorical(probs=v).log_prob(torch.eye(3)),
    vm=D.VonMises(0.0, 2.0).log_prob(torch.tensor(0.3)),
    gum=D.Gumbel(0.0, 1.0).variance,
    lr=D.LowRankMultivariateNormal(torch.zeros(3), torch.ones(3, 1), torch.ones(3)).log_prob(v),
)
