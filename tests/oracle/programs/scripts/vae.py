import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Bernoulli, Independent, Normal, kl_divergence

torch.set_default_dtype(torch.double)
rng = np.random.default_rng(7)


class VAE(nn.Module):
    def __init__(self, d=20, h=16, z=3):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h), nn.ELU(), nn.Linear(h, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, h), nn.Softplus(beta=2), nn.Linear(h, d))

    def forward(self, x, eps):
        mu, logvar = self.enc(x).chunk(2, dim=-1)
        std = torch.exp(0.5 * logvar)
        return self.dec(mu + eps * std), mu, logvar


model = VAE()
for p in model.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.3, p.shape)))
x = torch.from_numpy((rng.random((30, 20)) < 0.4).astype(float))
opt = torch.optim.Adam(model.parameters(), lr=5e-3, amsgrad=True)
hist = []
for epoch in range(15):
    eps = torch.from_numpy(rng.normal(size=(30, 3)))
    recon, mu, logvar = model(x, eps)
    bce = F.binary_cross_entropy_with_logits(recon, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    loss = (bce + min(1.0, epoch / 10) * kld) / len(x)
    opt.zero_grad()
    loss.backward()
    opt.step()
    hist.append((bce.item(), kld.item()))
q = Independent(Normal(mu, (0.5 * logvar).exp()), 1)
p = Independent(Normal(torch.zeros(3), torch.ones(3)), 1)
kl = kl_divergence(q, p)
ll = Independent(Bernoulli(logits=recon), 1).log_prob(x)
recon, mu, logvar = model(x, eps)
q = Independent(Normal(mu, (0.5 * logvar).exp()), 1)
# importance weighted bound
K = 5
eps = torch.from_numpy(rng.normal(size=(K, 30, 3)))
z = q.base_dist.loc + q.base_dist.scale * eps
logw = Bernoulli(logits=model.dec(z)).log_prob(x).sum(-1) + p.log_prob(z) - q.log_prob(z)
iwae = (torch.logsumexp(logw, 0) - np.log(K)).mean()
iwae.backward()
OUT = dict(
    h=hist,
    kl=kl,
    ll=ll,
    iwae=iwae,
    same=torch.allclose(kl.sum(), -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())),
    g=[p.grad.norm() for p in model.parameters()],
    ent=q.entropy(),
)
