"""HMC with dual averaging and a mass matrix, on a hierarchical model."""

import math

import numpy as np
import torch
import torch.distributions as dist
from torch.distributions import biject_to, constraints, transform_to
from torch.distributions.kl import kl_divergence

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(39)
sigma = torch.tensor([15.0, 10, 16, 11, 9, 11, 10, 18])
obs = torch.tensor([28.0, 8, -3, 7, -1, 1, 18, 12])
positive = biject_to(constraints.positive)


def log_joint(v):
    mu, log_tau, eta = v[0], v[1], v[2:]
    tau = positive(log_tau)
    theta = mu + tau * eta
    lp = dist.Normal(0.0, 5.0).log_prob(mu) + dist.HalfCauchy(5.0).log_prob(tau)
    lp = lp + positive.log_abs_det_jacobian(log_tau, tau)
    lp = lp + dist.Independent(dist.Normal(torch.zeros(8), 1.0), 1).log_prob(eta)
    return lp + dist.Normal(theta, sigma).log_prob(obs).sum()


def potential(q):
    q = q.detach().requires_grad_()
    u = -log_joint(q)
    (g,) = torch.autograd.grad(u, q)
    return u.detach(), g


def leapfrog(q, p, eps, steps, inverse_mass):
    _, g = potential(q)
    p = p - 0.5 * eps * g
    for i in range(steps):
        q = q + eps * inverse_mass * p
        u, g = potential(q)
        if i + 1 < steps:
            p = p - eps * g
    return q, p - 0.5 * eps * g, u


class DualAveraging:
    def __init__(self, eps, target=0.8, gamma=0.05, t0=10, kappa=0.75):
        self.mu, self.target = math.log(10 * eps), target
        self.gamma, self.t0, self.kappa = gamma, t0, kappa
        self.h = self.x_bar = 0.0
        self.t = 0

    def update(self, accept):
        self.t += 1
        w = 1 / (self.t + self.t0)
        self.h = (1 - w) * self.h + w * (self.target - accept)
        x = self.mu - math.sqrt(self.t) / self.gamma * self.h
        eta = self.t**-self.kappa
        self.x_bar = eta * x + (1 - eta) * self.x_bar
        return math.exp(x)


class Welford:
    def __init__(self, size):
        self.mean, self.m2, self.n = torch.zeros(size), torch.zeros(size), 0

    def update(self, x):
        self.n += 1
        delta = x - self.mean
        self.mean = self.mean + delta / self.n
        self.m2 = torch.addcmul(self.m2, delta, x - self.mean)

    def variance(self):
        return (self.m2 / (self.n - 1)) * self.n / (self.n + 5) + 1e-3 * 5 / (self.n + 5)


q = torch.zeros(10)
eps, adapt, moments = 0.1, DualAveraging(0.1), Welford(10)
inverse_mass = torch.ones(10)
draws, accepts = [], []
for i in range(40):
    p = torch.from_numpy(rng.normal(size=10)) / inverse_mass.sqrt()
    u0, _ = potential(q)
    new, pn, u1 = leapfrog(q, p, eps, 5, inverse_mass)
    h0 = u0 + 0.5 * (inverse_mass * p * p).sum()
    h1 = u1 + 0.5 * (inverse_mass * pn * pn).sum()
    accept = torch.exp(torch.clamp(h0 - h1, max=0.0)).nan_to_num(0.0).item()
    if rng.random() < accept:
        q = new
    if i < 20:
        eps = adapt.update(accept)
        moments.update(q)
        if i == 19:
            inverse_mass, eps = moments.variance(), math.exp(adapt.x_bar)
    draws.append(q)
    accepts.append(accept)
chain = torch.stack(draws[20:])
centred = chain - chain.mean(0)
f = torch.fft.rfft(centred, n=64, dim=0)
auto = torch.fft.irfft(f * f.conj(), n=64, dim=0)[:20]
auto = auto / auto[0].clamp(min=1e-12)
theta = chain[:, :1] + positive(chain[:, 1:2]) * chain[:, 2:]

# the same posterior by a mean-field guide, and a Laplace guide in a transformed space
loc = torch.zeros(10, requires_grad=True)
raw = torch.full((10,), -1.0, requires_grad=True)
opt = torch.optim.Rprop([loc, raw], lr=0.05)
elbos = []
for _ in range(6):
    scale = transform_to(constraints.greater_than(0.01))(raw)
    guide = dist.Normal(loc, scale)
    noise = torch.from_numpy(rng.normal(size=(4, 10)))
    elbo = torch.vmap(log_joint)(loc + scale * noise).mean() + guide.entropy().sum()
    opt.zero_grad()
    (-elbo).backward()
    opt.step()
    elbos.append(elbo.item())
mode = loc.detach()
curvature = torch.func.hessian(lambda v: -log_joint(v))(mode)
curvature = curvature + 2 * torch.eye(10)
laplace = dist.MultivariateNormal(mode, precision_matrix=curvature)
guide = dist.MultivariateNormal(loc.detach(), torch.diag_embed(raw.detach().exp() ** 2))
flow = dist.TransformedDistribution(
    dist.Normal(torch.zeros(3), 1.0),
    [
        dist.AffineTransform(0.5, 2.0),
        dist.TanhTransform(cache_size=1),
        dist.SigmoidTransform().inv.inv,
    ],
)
value = torch.tensor([0.4, 0.55, 0.7])
half = [dist.HalfNormal(2.0), dist.HalfNormal(3.0)]
image = dist.TransformedDistribution(dist.Normal(0.0, 2.0), dist.AbsTransform())
OUT = dict(
    accepts=accepts,
    eps=eps,
    inverse_mass=inverse_mass,
    chain=chain,
    auto=auto,
    quantiles=torch.quantile(theta, torch.tensor([0.1, 0.5, 0.9]), dim=0),
    cov=torch.cov(theta.T),
    elbos=elbos,
    kl=[kl_divergence(guide, laplace), kl_divergence(*half), kl_divergence(half[1], image)],
    flow=flow.log_prob(value),
    lp=laplace.log_prob(chain),
    support=[
        repr(flow.support),
        repr(image.support),
        isinstance(half[0], dist.TransformedDistribution),
    ],
)
