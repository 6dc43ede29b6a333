"""A physics-informed network whose residuals use autograd.grad inside of vmap(grad)."""

import numpy as np
import torch
from torch.func import functional_call, grad, vmap

rng = np.random.default_rng(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
with torch.no_grad():
    for p in net.parameters():
        p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.5))
points = torch.tensor(rng.uniform(size=(12, 2)))
params = {k: v.detach() for k, v in net.named_parameters()}


def u(params, xt):
    return functional_call(net, params, (xt,)).squeeze()


def residual(params, xt):
    (first,) = torch.autograd.grad(u(params, xt), xt, create_graph=True)
    (second,) = torch.autograd.grad(first[0], xt, create_graph=True)
    return (first[1] - 0.1 * second[0]) ** 2


by_sample = vmap(grad(residual, argnums=(0, 1)), in_dims=(None, 0))
losses = []
for _ in range(5):
    slopes, _ = by_sample(params, points)
    params = {k: v - 0.05 * slopes[k].mean(0) for k, v in params.items()}
    losses.append(
        vmap(grad(residual, argnums=1), in_dims=(None, 0))(params, points).abs().sum().item()
    )


def inner_step(x):
    fast = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    loss = ((fast * x).sum() - 1) ** 2
    (g,) = torch.autograd.grad(loss, fast, create_graph=True)
    return ((fast - 0.1 * g) * x).sum()


adapted = vmap(grad(inner_step))(points)
OUT = {"params": params, "losses": losses, "adapted": adapted, "one": grad(inner_step)(points[0])}
