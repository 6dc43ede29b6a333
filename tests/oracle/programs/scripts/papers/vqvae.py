# VQ-VAE with a codebook by moving averages; total correlation; straight-through Gumbel softmax
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(9)


class VQ(nn.Module):
    def __init__(self, k, d):
        super().__init__()
        e = torch.from_numpy(rng.normal(size=(d, k)))
        self.register_buffer("embed", e)
        self.register_buffer("n", torch.zeros(k))
        self.register_buffer("avg", e.clone())

    def forward(self, x):
        f = x.permute(0, 2, 3, 1).reshape(-1, self.embed.shape[0])
        dist = (
            f.pow(2).sum(1, keepdim=True)
            - 2 * f @ self.embed
            + self.embed.pow(2).sum(0, keepdim=True)
        )
        ind = (-dist).max(1).indices
        one = F.one_hot(ind, self.embed.shape[1]).type(f.dtype)
        q = F.embedding(ind.view(x.shape[0], *x.shape[2:]), self.embed.t()).permute(0, 3, 1, 2)
        if self.training:
            self.n.data.mul_(0.9).add_(one.sum(0), alpha=0.1)
            self.avg.data.mul_(0.9).add_(f.detach().t() @ one, alpha=0.1)
            tot = self.n.sum()
            cl = (self.n + 1e-5) / (tot + self.n.numel() * 1e-5) * tot
            self.embed.data.copy_(self.avg / cl.unsqueeze(0))
        diff = (q.detach() - x).pow(2).mean()
        p = one.mean(0)
        return x + (q - x).detach(), diff, torch.exp(-torch.special.xlogy(p, p).sum()), ind


enc = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.ELU(), nn.Conv2d(4, 3, 1), nn.GroupNorm(3, 3))
dec = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1, padding_mode="reflect"),
    nn.PixelShuffle(2),
    nn.Hardswish(),
    nn.Conv2d(2, 1, 3, padding="same", padding_mode="circular"),
)
vq = VQ(8, 3)
params = [*enc.parameters(), *dec.parameters()]
for p in params:
    p.data = torch.from_numpy(rng.normal(0, 0.3, tuple(p.shape)))
opt = torch.optim.RAdam(params, lr=1e-2)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=3, T_mult=2)
log = []
for it in range(8):
    x = torch.from_numpy(rng.normal(size=(4, 1, 8, 8)))
    q, diff, perp, ind = vq(enc(x))
    rec = dec(q)
    loss = F.mse_loss(rec, x) + 0.25 * diff
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    log.append([loss.item(), perp.item(), opt.param_groups[0]["lr"]])
# beta-TCVAE: total correlation by minibatch weighted sampling
mu, lv = torch.from_numpy(rng.normal(size=(2, 6, 2))).requires_grad_().unbind()
z = mu + torch.exp(0.5 * lv) * torch.from_numpy(rng.normal(size=(6, 2)))
lqz = torch.distributions.Normal(mu.unsqueeze(0), (0.5 * lv).exp().unsqueeze(0)).log_prob(
    z.unsqueeze(1)
)
tc = (torch.logsumexp(lqz.sum(2), 1) - torch.logsumexp(lqz, 1).sum(1)).mean()
g = torch.autograd.grad(tc, mu._base if mu._base is not None else mu, allow_unused=True)[0]
lg = torch.from_numpy(rng.normal(size=(5, 4))).requires_grad_()
gum = -torch.from_numpy(rng.exponential(size=(5, 4))).log()
soft = F.softmax((lg + gum) / 0.7, -1)
hard = (
    torch.zeros_like(soft).scatter_(-1, soft.argmax(-1, keepdim=True), 1.0) - soft.detach() + soft
)
(hard * torch.arange(20.0).view(5, 4)).sum().backward()
OUT = dict(
    log=log,
    embed=vq.embed,
    ind=ind.view(4, -1),
    tc=tc,
    g=g,
    gl=lg.grad,
    cnt=torch.bincount(ind, minlength=8),
)
