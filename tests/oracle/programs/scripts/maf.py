import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(9)


class MaskedLinear(nn.Linear):
    def __init__(self, n_in, n_out, mask):
        super().__init__(n_in, n_out)
        self.register_buffer(
            "mask", torch.from_numpy(mask.astype(np.uint8)).to(torch.get_default_dtype())
        )

    def forward(self, x):
        return F.linear(x, self.mask * self.weight, self.bias)


class MADE(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        m0 = np.arange(d)
        m1 = np.arange(h) % (d - 1)
        self.net = nn.Sequential(
            MaskedLinear(d, h, m0[None, :] <= m1[:, None]),
            nn.ReLU(),
            MaskedLinear(h, 2 * d, np.tile(m1[None, :] < m0[:, None], (2, 1))),
        )

    def forward(self, x):
        m, a = self.net(x).chunk(2, 1)
        a = a.clamp(-3, 3)
        return (x - m) * torch.exp(-a), -a.sum(1)

    def inverse(self, u):
        x = torch.zeros_like(u)
        for i in range(u.shape[1]):
            m, a = self.net(x).chunk(2, 1)
            x[:, i] = u[:, i] * torch.exp(a.clamp(-3, 3)[:, i]) + m[:, i]
        return x


class BatchNormFlow(nn.Module):
    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.log_gamma, self.beta = nn.Parameter(torch.zeros(d)), nn.Parameter(torch.zeros(d))
        self.register_buffer("mean", torch.zeros(d))
        self.register_buffer("var", torch.ones(d))
        self.eps = eps

    def forward(self, x):
        if self.training:
            mean, var = x.mean(0), (x - x.mean(0)).pow(2).mean(0) + self.eps
            self.mean.mul_(0.9).add_(mean.data * 0.1)
            self.var.mul_(0.9).add_(var.data * 0.1)
        else:
            mean, var = self.mean, self.var
        y = torch.exp(self.log_gamma) * (x - mean) / var.sqrt() + self.beta
        return y, (self.log_gamma - 0.5 * torch.log(var)).sum(-1).expand(len(x))


class Flow(nn.Sequential):
    def log_probs(self, x):
        total = torch.zeros(x.shape[0], device=x.device)
        for module in self._modules.values():
            x, ld = module(x)
            total += ld
        return (-0.5 * x.pow(2) - 0.5 * np.log(2 * np.pi)).sum(-1) + total


flow = Flow(MADE(3, 8), BatchNormFlow(3), MADE(3, 8))
for module in flow.modules():
    if isinstance(module, nn.Linear):
        module.weight.data = torch.from_numpy(rng.normal(0, 0.4, tuple(module.weight.shape)))
        if hasattr(module, "bias") and module.bias is not None:
            module.bias.data.fill_(0)
x = torch.from_numpy(rng.normal(size=(64, 3)) @ rng.normal(size=(3, 3)))
opt = torch.optim.Adam(flow.parameters(), lr=1e-2, weight_decay=1e-6)
ls = []
for _ in range(15):
    opt.zero_grad()
    loss = -flow.log_probs(x).mean()
    loss.backward()
    opt.step()
    ls.append(loss.item())
flow.eval()
with torch.no_grad():
    u, _ = flow[0](x)
    err = (flow[0].inverse(u) - x).abs().max() < 1e-8
J = torch.autograd.functional.jacobian(lambda v: flow[0](v[None])[0][0], x[0])
OUT = dict(l=ls, err=err.item(), upper=torch.triu(J, 1).abs().sum(), J=J, var=flow[1].var)
