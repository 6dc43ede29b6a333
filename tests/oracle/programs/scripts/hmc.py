import math

import numpy as np
import torch
from torch.distributions import Gamma, HalfCauchy, MultivariateNormal, Normal, StudentT

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(11)
X = torch.from_numpy(rng.normal(size=(40, 3)))
y = torch.from_numpy((rng.random(40) < 0.6).astype(float))


def log_post(q):
    w, log_tau = q[:3], q[3]
    tau = log_tau.exp()
    prior = (
        Normal(0.0, 1.0 / tau.sqrt()).log_prob(w).sum() + Gamma(2.0, 1.0).log_prob(tau) + log_tau
    )
    lik = -torch.nn.functional.binary_cross_entropy_with_logits(X @ w, y, reduction="sum")
    return prior + lik + HalfCauchy(1.0).log_prob(tau) + StudentT(3.0).log_prob(w[0])


def grad(q):
    q = q.detach().requires_grad_()
    return torch.autograd.grad(log_post(q), q)[0]


def leapfrog(q, p, eps, steps, minv):
    p = p + 0.5 * eps * grad(q)
    for i in range(steps):
        q = q + eps * minv * p
        if i < steps - 1:
            p = p + eps * grad(q)
    return q, -(p + 0.5 * eps * grad(q))


q = torch.zeros(4)
minv = torch.tensor([1.0, 0.5, 1.5, 1.0])
samples, accepted = [], 0
for it in range(25):
    p0 = torch.from_numpy(rng.normal(size=4)) / minv.sqrt()
    h0 = -log_post(q) + 0.5 * (p0 * p0 * minv).sum()
    q1, p1 = leapfrog(q, p0, 0.08, 8, minv)
    h1 = -log_post(q1) + 0.5 * p1.pow(2).mul(minv).sum()
    if math.log(rng.random()) < (h0 - h1).item():
        q, accepted = q1, accepted + 1
    samples.append(q.clone())
S = torch.stack(samples)
# Laplace approximation
H = torch.autograd.functional.hessian(lambda q: -log_post(q), S.mean(0))
lap = MultivariateNormal(S.mean(0), precision_matrix=H + 1e-3 * torch.eye(4))
acf = torch.stack([((S[:-k] - S.mean(0)) * (S[k:] - S.mean(0))).mean(0) for k in range(1, 4)])
OUT = dict(
    mean=S.mean(0),
    q=torch.quantile(S, torch.tensor([0.1, 0.5, 0.9]), dim=0),
    acc=accepted,
    H=H,
    lp=lap.log_prob(q),
    cov=torch.cov(S.T),
    corr=torch.corrcoef(S.T),
    acf=acf,
)
