import numpy as np
import torch
import torch.nn as nn

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(10)
G = nn.Sequential(
    nn.Linear(4, 16), nn.BatchNorm1d(16, 0.8), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 2)
)
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 1), nn.Sigmoid())
for net in (G, D):
    for p in net.parameters():
        with torch.no_grad():
            p.set_(torch.from_numpy(rng.normal(0, 0.4, tuple(p.shape))))
bce = nn.BCELoss()
og = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
od = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
log = []
for it in range(20):
    real = torch.from_numpy(rng.normal([2.0, -1.0], 0.3, (32, 2)))
    z = torch.from_numpy(rng.normal(size=(32, 4)))
    valid, fake = torch.ones(32, 1), torch.zeros(32, 1)
    og.zero_grad()
    gen = G(z)
    gl = bce(D(gen), valid)
    gl.backward()
    og.step()
    od.zero_grad()
    dl = (bce(D(real), valid) + bce(D(gen.detach()), fake)) / 2
    dl.backward()
    od.step()
    log.append([gl.item(), dl.item()])
# WGAN-GP step
C = nn.Sequential(nn.Linear(2, 16), nn.SiLU(), nn.Linear(16, 1))
for p in C.parameters():
    nn.init.constant_(p, 0.0)
    p.data += torch.from_numpy(rng.normal(0, 0.4, tuple(p.shape)))
oc = torch.optim.RMSprop(C.parameters(), lr=5e-3)
for it in range(10):
    eps = torch.from_numpy(rng.random((32, 1)))
    x = (eps * real + (1 - eps) * gen.detach()).requires_grad_(True)
    d = C(x)
    grads = torch.autograd.grad(
        outputs=d,
        inputs=x,
        grad_outputs=torch.ones_like(d),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gp = ((grads.view(grads.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()
    loss = C(gen.detach()).mean() - C(real).mean() + 10 * gp
    oc.zero_grad()
    loss.backward()
    oc.step()
    for p in C.parameters():
        p.data.clamp_(-1.0, 1.0)
for p in D.parameters():
    p.requires_grad = False
gl = bce(D(G(z)), valid)
gl.backward()
OUT = dict(
    log=log,
    gp=gp,
    wl=loss,
    dg=[p.grad is None for p in C.parameters()],
    gg=G[0].weight.grad,
    hinge=torch.relu(1 - C(real)).mean() + torch.relu(1 + C(gen.detach())).mean(),
)
