import numpy as np
import torch
import torch.distributions as D
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import constraints
from torch.distributions import transforms as Tr

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(37)
raw = torch.from_numpy(rng.normal(size=(4,))).requires_grad_()
pos = Tr.biject_to if False else D.biject_to(constraints.positive)(raw)
sim = D.biject_to(constraints.simplex)(raw[:2])
chol = D.transform_to(constraints.lower_cholesky)(torch.outer(raw, raw))
unit = D.transform_to(constraints.interval(-1.0, 2.0))(raw)
kls = dict(
    gamma=D.kl_divergence(D.Gamma(pos, 1.5), D.Gamma(2.0, pos)),
    beta=D.kl_divergence(D.Beta(pos, 2.0), D.Beta(1.0, 1.0)),
    dirichlet=D.kl_divergence(D.Dirichlet(pos), D.Dirichlet(torch.ones(4))),
    normal_laplace=D.kl_divergence(D.Normal(raw, pos), D.Laplace(0.0, 1.0))
    if False
    else D.kl_divergence(D.Laplace(raw, pos), D.Normal(0.0, 1.0)),
    expo=D.kl_divergence(D.Exponential(pos), D.Gamma(1.5, 2.0)),
    gumbel=D.kl_divergence(D.Gumbel(raw, pos), D.Gumbel(0.0, 1.0)),
    poisson=D.kl_divergence(D.Poisson(pos), D.Poisson(1.0)),
    cat=D.kl_divergence(D.Categorical(logits=raw), D.Categorical(torch.full((4,), 0.25))),
    bern=D.kl_divergence(D.Bernoulli(logits=raw), D.Bernoulli(0.3)),
    mvn=D.kl_divergence(
        D.MultivariateNormal(raw, scale_tril=chol),
        D.MultivariateNormal(torch.zeros(4), 2 * torch.eye(4)),
    ),
    lowrank=D.kl_divergence(
        D.LowRankMultivariateNormal(raw, torch.outer(raw, torch.ones(2)) + torch.eye(4, 2), pos),
        D.MultivariateNormal(torch.zeros(4), torch.eye(4)),
    ),
    halfn=D.kl_divergence(D.HalfNormal(pos), D.HalfNormal(1.0)),
    pareto=D.kl_divergence(D.Uniform(0.2, 0.2 + pos), D.Uniform(0.0, 9.0)),
    geom=D.kl_divergence(D.Geometric(torch.sigmoid(raw)), D.Geometric(0.4)),
)
lps = dict(
    nb=D.NegativeBinomial(5.0, logits=raw).log_prob(torch.arange(4.0)),
    bin=D.Binomial(9, logits=raw).log_prob(torch.arange(4.0)),
    weib=D.Weibull(pos, 1.5).log_prob(pos.detach() + 0.3),
    vm=D.VonMises(raw, pos).log_prob(torch.tensor(0.4)),
    cauchy=D.HalfCauchy(pos).log_prob(torch.tensor(1.2)),
    mult=D.Multinomial(6, logits=raw).log_prob(torch.tensor([1.0, 2.0, 0.0, 3.0])),
    fs=D.FisherSnedecor(pos, 3.0).log_prob(torch.tensor(0.7)),
    kum=D.Kumaraswamy(pos, 2.0).log_prob(torch.tensor(0.3)),
    lkj=D.LKJCholesky(3, 1.5).log_prob(
        torch.linalg.cholesky(torch.tensor([[1.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 1.0]]))
    ),
    wish=D.Wishart(torch.tensor(5.0), scale_tril=torch.eye(2) * pos[0]).log_prob(
        torch.tensor([[2.0, 0.3], [0.3, 1.0]])
    ),
    cb=D.ContinuousBernoulli(logits=raw).log_prob(torch.tensor(0.3)),
    ohc=D.OneHotCategorical(logits=raw).log_prob(F.one_hot(torch.tensor(2), 4).double()),
    relaxed=D.RelaxedOneHotCategorical(torch.tensor(0.7), logits=raw).log_prob(
        sim.new_tensor([0.1, 0.2, 0.3, 0.4])
    ),
    lrn=D.LogisticNormal(raw[:2], pos[:2]).log_prob(sim.detach()),
    stick=D.TransformedDistribution(
        D.Normal(raw[:2], 1.0).expand([2]), [Tr.StickBreakingTransform()]
    ).log_prob(sim.detach()),
    chain=D.TransformedDistribution(
        D.Normal(raw, pos),
        [Tr.AffineTransform(1.0, 2.0), Tr.SigmoidTransform(), Tr.PowerTransform(torch.tensor(2.0))],
    ).log_prob(torch.tensor(0.3)),
    mix=D.MixtureSameFamily(
        D.Categorical(logits=raw[:2]), D.Independent(D.Normal(raw.view(2, 2), 1.0), 1)
    ).log_prob(torch.tensor([0.1, 0.2])),
    ind=D.Independent(D.Laplace(raw, pos), 1).log_prob(torch.zeros(4)),
    igam=D.InverseGamma(pos, 2.0).log_prob(torch.tensor(0.8)),
)
total = (
    sum(v.sum() for v in kls.values())
    + sum(v.sum() for v in lps.values())
    + chol.sum() * 0
    + unit.sum()
    + sim.log().sum()
)
(g,) = torch.autograd.grad(total, raw)
ent = [
    d.entropy()
    for d in (
        D.Gamma(pos, 1.0),
        D.Beta(pos, 1.5),
        D.Dirichlet(pos),
        D.Weibull(pos, 1.2),
        D.Gumbel(raw, pos),
        D.LogNormal(raw, pos),
        D.StudentT(pos + 2),
        D.Poisson(pos) if False else D.Cauchy(raw, pos),
    )
]
cdfs = [
    D.Gamma(pos, 1.0).cdf(torch.tensor(1.1)),
    D.Normal(raw, pos).icdf(torch.tensor(0.3)),
    D.Weibull(pos, 1.0).cdf(torch.tensor(0.5)),
    D.LogNormal(raw, pos).cdf(torch.tensor(0.5)),
    D.Gumbel(raw, pos).cdf(torch.tensor(0.1)),
]
mom = [
    D.Beta(pos, 2.0).variance,
    D.Kumaraswamy(pos, 2.0).mean,
    D.StudentT(pos + 2).variance,
    D.VonMises(raw, pos).variance,
    D.Dirichlet(pos).variance,
]


class BLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.m, self.r = (
            nn.Parameter(torch.from_numpy(rng.normal(0, 0.3, (o, i)))),
            nn.Parameter(torch.full((o, i), -3.0)),
        )

    def forward(self, x, e):
        s = F.softplus(self.r)
        self.kl = D.kl_divergence(D.Normal(self.m, s), D.Normal(0.0, 1.0)).sum()
        return x @ self.m.T + (x.square() @ s.square().T).sqrt() * e


net = [BLinear(3, 8), BLinear(8, 1)]
opt = torch.optim.Adam([p for l in net for p in l.parameters()], lr=0.02)
log = []
for it in range(5):
    x = torch.from_numpy(rng.normal(size=(20, 3)))
    h = torch.relu(net[0](x, torch.from_numpy(rng.normal(size=(20, 8)))))
    o = net[1](h, torch.from_numpy(rng.normal(size=(20, 1))))
    loss = (
        F.gaussian_nll_loss(o, x.sum(1, keepdim=True), torch.full_like(o, 0.1), full=True)
        + sum(l.kl for l in net) / 100
    )
    opt.zero_grad()
    loss.backward()
    opt.step()
    log.append(loss.item())
OUT = dict(
    kls=kls,
    lps=lps,
    g=g,
    ent=ent,
    cdfs=cdfs,
    mom=mom,
    log=log,
    rep=repr(D.Normal(raw.detach()[0], 1.0)),
)
