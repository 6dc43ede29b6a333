"""Training over pytrees, scripted activations, PCGrad, GradNorm, hypernetworks, ES."""

import argparse
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils._pytree as pytree
from torch.func import functional_call, grad_and_value, vmap
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(45)
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args([])
use_cuda = not args.no_cuda and torch.cuda.is_available()
device = torch.device("cuda" if use_cuda else "cpu")
kwargs = {"num_workers": 1, "pin_memory": True} if use_cuda else {}
if use_cuda:
    torch.backends.cudnn.benchmark = True


def N(*s):
    return torch.from_numpy(rng.normal(size=s))


@torch.jit.script
def fused_gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x / 1.41421))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(3, 6), nn.Linear(6, 2)

    def forward(self, x):
        return self.fc2(fused_gelu(self.fc1(x)))


net = Net().to(device)
for p in net.parameters():
    p.data = N(*p.shape) * 0.4
model = nn.DataParallel(net)
X, Y = N(16, 3), N(16, 2)
params = dict(net.named_parameters())
params = {k: v.detach().clone() for k, v in params.items()}


def loss_fn(params, x, y):
    return F.mse_loss(functional_call(net, params, (x,)), y)


state = tree_map(torch.zeros_like, params)
trace = []
for _ in range(5):
    g, l = grad_and_value(loss_fn)(params, X, Y)
    state = {k: 0.9 * state[k] + g[k] for k in g}
    flat_p, spec = tree_flatten(params)
    flat_s, _ = tree_flatten(state)
    params = tree_unflatten([p - args.lr * s for p, s in zip(flat_p, flat_s)], spec)
    trace.append(l.item())
leaves = pytree.tree_leaves({"a": [1, (2, 3)], "b": None})
total = sum(
    pytree.tree_leaves(
        pytree.tree_map_only(torch.Tensor, lambda t: t.sum().item(), {"p": params, "n": 3})
    )
)
out = model(X)
losses = torch.stack([F.mse_loss(out[:, 0], Y[:, 0]), F.l1_loss(out[:, 1], Y[:, 1])])
grads = []
for i in range(2):
    gs = torch.autograd.grad(losses[i], net.parameters(), retain_graph=True, allow_unused=True)
    grads.append(
        torch.cat(
            [
                torch.zeros_like(p).flatten() if g is None else g.flatten()
                for g, p in zip(gs, net.parameters())
            ]
        )
    )
pc = [g.clone() for g in grads]
for i in range(2):
    dot = torch.dot(pc[i], grads[1 - i])
    if dot < 0:
        pc[i] -= dot / grads[1 - i].norm() ** 2 * grads[1 - i]
weights = torch.ones(2, requires_grad=True)
norms = torch.stack(
    [
        torch.norm(
            torch.autograd.grad(
                weights[i] * losses[i], net.fc2.weight, retain_graph=True, create_graph=True
            )[0]
        )
        for i in range(2)
    ]
)
gn = torch.abs(norms - (norms.mean() * (losses / losses.sum()).pow(0.5)).detach()).sum()
gw = torch.autograd.grad(gn, weights)[0]


class Hyper(nn.Module):
    def __init__(self, target: nn.Module, z=4):
        super().__init__()
        self.shapes = [(n, p.shape) for n, p in target.named_parameters()]
        self.gen = nn.Linear(z, sum(s.numel() for _, s in self.shapes))
        self.target = [target]

    def forward(self, z, x):
        flat, out, i = self.gen(z), {}, 0
        for n, s in self.shapes:
            out[n] = flat[i : i + s.numel()].view(s)
            i += s.numel()
        return functional_call(self.target[0], out, (x,))


hyper = Hyper(net)
hyper.gen.weight.data, hyper.gen.bias.data = (
    N(*hyper.gen.weight.shape) * 0.1,
    N(*hyper.gen.bias.shape) * 0.3,
)
opt = torch.optim.Adam(hyper.parameters(), lr=0.01)
hl = []
for z in N(3, 4):
    l = F.mse_loss(hyper(z, X), Y)
    opt.zero_grad()
    l.backward()
    opt.step()
    hl.append(l.item())
theta = nn.utils.parameters_to_vector(net.parameters()).detach()
noise = N(8, len(theta))


def evaluate(v):
    ps, i = {}, 0
    for n, p in net.named_parameters():
        ps[n] = v[i : i + p.numel()].view_as(p)
        i += p.numel()
    return -loss_fn(ps, X, Y)


fit = vmap(evaluate)(torch.cat([theta + 0.1 * noise, theta - 0.1 * noise]))
ranks = torch.empty_like(fit)
ranks[fit.argsort()] = torch.linspace(-0.5, 0.5, 16)
es = (ranks[:8] - ranks[8:]) @ noise / 8
with tempfile.TemporaryDirectory() as d:
    path = os.path.join(d, "ck.pt")
    torch.save(
        {"model": model.state_dict(), "opt": opt.state_dict(), "epoch": 3, "args": vars(args)}, path
    )
    ck = torch.load(path, map_location=device)
model.load_state_dict({k: v * 1.1 for k, v in ck["model"].items()})
missing = net.load_state_dict({"fc1.weight": torch.zeros(6, 3), "x": torch.zeros(1)}, strict=False)
OUT = {
    "trace": trace,
    "leaves": leaves,
    "total": total,
    "pc": pc,
    "gw": gw,
    "hl": hl,
    "fit": fit,
    "es": es,
    "keys": list(ck["model"]),
    "epoch": ck["epoch"],
    "missing": (missing.missing_keys, missing.unexpected_keys),
    "w": net.fc2.weight.detach(),
    "dist": str(torch.distributed.is_available() and torch.distributed.is_initialized()),
}
