"""Laplace's approximation per example: Hessians, Fisher matrices, influence, evidence."""

import math
from functools import partial

import numpy as np
import torch
from torch import nn
from torch.func import (
    functional_call,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(35)
x = torch.from_numpy(rng.normal(size=(14, 3)))
y = torch.from_numpy((rng.random(14) < 0.5).astype(float))
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
for p in model.parameters():
    p.data = torch.from_numpy(rng.normal(0, 0.5, p.shape))
params = {k: p.detach() for k, p in model.named_parameters()}


def flatten(tree):
    return torch.cat([v.flatten() for v in tree.values()])


def unflatten(v):
    parts = v.split([p.numel() for p in params.values()])
    return {k: part.view_as(p) for (k, p), part in zip(params.items(), parts)}


def logit(theta, inputs):
    return functional_call(model, unflatten(theta), (inputs,)).squeeze(-1)


def nll(theta, inputs, label):
    return nn.functional.binary_cross_entropy_with_logits(logit(theta, inputs), label)


def loss(theta, log_prior):
    data = vmap(partial(nll, theta))(x, y).sum()
    return data + 0.5 * log_prior.exp() * theta.square().sum()


theta = flatten(params).requires_grad_()
log_prior = torch.tensor(0.3)
opt = torch.optim.LBFGS([theta], lr=0.8, max_iter=12, history_size=5, line_search_fn="strong_wolfe")


def closure():
    opt.zero_grad()
    value = loss(theta, log_prior)
    value.backward()
    return value


trace = [opt.step(closure).item() for _ in range(3)]
theta = theta.detach()
H = hessian(loss)(theta, log_prior)
each = vmap(hessian(nll), in_dims=(None, 0, 0))(theta, x, y)
rows = vmap(grad(nll), (None, 0, 0))(theta, x, y)
fisher = rows.T @ rows
J = vmap(jacrev(logit), (None, 0))(theta, x)
probs = torch.sigmoid(vmap(logit, (None, 0))(theta, x))
ggn = torch.einsum("ni,n,nj->ij", J, probs * (1 - probs), J)
prior = log_prior.exp() * torch.eye(len(theta))


def evidence(lp):
    precision = ggn + lp.exp() * torch.eye(len(theta))
    half = torch.linalg.cholesky(precision)
    det = 2 * half.diagonal().log().sum()
    return -loss(theta, lp) + 0.5 * len(theta) * lp - 0.5 * det


slope, curve = grad(evidence)(log_prior), hessian(evidence)(log_prior)
cov = torch.linalg.inv(ggn + prior)
variance = torch.einsum("ni,ij,nj->n", J, cov, J)
kappa = 1 / (1 + math.pi * variance / 8).sqrt()
predictive = torch.sigmoid(kappa * vmap(logit, (None, 0))(theta, x))
influence = -rows @ torch.linalg.solve(H, rows.T)


def hvp(v):
    return jvp(grad(lambda t: loss(t, log_prior)), (theta,), (v,))[1]


def conjugate(b, steps=20):
    s, r = torch.zeros_like(b), b.clone()
    d, rr = r.clone(), r @ r
    for _ in range(steps):
        Ad = hvp(d)
        a = rr / (d @ Ad)
        s, r = s + a * d, r - a * Ad
        new = r @ r
        if new.sqrt() < 1e-12:
            break
        d, rr = r + new / rr * d, new
    return s


solved = conjugate(rows[0])
many = [nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)) for _ in range(3)]
for m in many:
    for p in m.parameters():
        p.data = torch.from_numpy(rng.normal(0, 0.5, p.shape))
stacked, buffers = stack_module_state(many)


def member(p, b, inputs):
    return functional_call(many[0], (p, b), (inputs,)).squeeze(-1)


votes = vmap(member, (0, 0, None))(stacked, buffers, x)
spread = vmap(vmap(jacfwd(member, argnums=2), (None, None, 0)), (0, 0, None))(stacked, buffers, x)
out, pull = vjp(lambda p: member(p, {}, x), {k: v[0] for k, v in stacked.items()})
pulled = vmap(pull)(torch.eye(14))[0]
tt = theta[-5:]
third = jacfwd(jacrev(grad(lambda t: nll(torch.cat([theta[:-5], t]), x[0], y[0]))))(tt)
OUT = dict(
    trace=trace,
    H=H,
    each=each.sum(0) + prior - H,
    fisher=fisher,
    slope=slope,
    curve=curve,
    predictive=predictive,
    influence=influence,
    solved=solved - torch.linalg.solve(H, rows[0]),
    votes=votes,
    spread=spread,
    pulled=pulled,
    third=third,
    eig=torch.linalg.eigvalsh(H),
)
