import numpy as np
import torch
from torch import autograd, nn, optim
from torch.nn.utils import spectral_norm

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(3)


def noise(*s):
    return torch.from_numpy(rng.standard_normal(s))


class Generator(nn.Module):
    def __init__(self, z=4, ch=6):
        super().__init__()
        self.project = nn.Linear(z, ch * 4 * 4)
        self.main = nn.Sequential(
            nn.ConvTranspose2d(ch, ch, kernel_size=4, stride=2, padding=1, bias=False),
            nn.InstanceNorm2d(ch, affine=True),
            nn.PReLU(ch),
            nn.Upsample(scale_factor=2, mode="nearest"),
            nn.Conv2d(ch, 1, 3, padding=1, padding_mode="reflect"),
            nn.Tanh(),
        )

    def forward(self, z):
        h = self.project(z).unflatten(1, (-1, 4, 4))
        return self.main(h)


class Critic(nn.Module):
    def __init__(self, ch=6):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, ch, 4, 2, 1),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ch, 2 * ch, 4, 2, 1),
            nn.GroupNorm(3, 2 * ch),
            nn.SiLU(inplace=True),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(2 * ch, 1),
        )

    def forward(self, x):
        return self.main(x).view(-1)


def gradient_penalty(D, real, fake):
    alpha = torch.from_numpy(rng.random((real.size(0), 1, 1, 1))).expand_as(real)
    inter = autograd.Variable(alpha * real.data + (1 - alpha) * fake.data, requires_grad=True)
    prob = D(inter)
    g = autograd.grad(
        outputs=prob,
        inputs=inter,
        grad_outputs=torch.ones(prob.size()),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    g = g.view(g.size(0), -1)
    norm = torch.sqrt(torch.sum(g**2, dim=1) + 1e-12)
    return 10 * ((norm - 1) ** 2).mean(), norm


def weights_init(m):
    for p in m.parameters(recurse=False):
        p.data.copy_(torch.from_numpy(rng.normal(0.0, 0.2, tuple(p.shape))))


G, D = Generator(), Critic()
G.apply(weights_init), D.apply(weights_init)
gopt, dopt = (
    optim.RMSprop(G.parameters(), lr=1e-3),
    optim.Adam(D.parameters(), lr=1e-3, betas=(0.0, 0.9)),
)
real = torch.tanh(noise(8, 1, 16, 16).cumsum(-1) * 0.3)
log = []
for it in range(6):
    for _ in range(2):
        fake = G(noise(8, 4)).detach()
        gp, norm = gradient_penalty(D, real, fake)
        d_loss = D(fake).mean() - D(real).mean() + gp
        D.zero_grad()
        d_loss.backward()
        dopt.step()
    g_loss = -D(G(noise(8, 4))).mean()
    G.zero_grad()
    g_loss.backward()
    gopt.step()
    log.append([d_loss.item(), g_loss.item(), gp.item(), norm.mean().item()])
# R1 and path length regularisation of StyleGAN2
xr = real.clone().requires_grad_(True)
(r1,) = autograd.grad(D(xr).sum(), xr, create_graph=True)
r1 = r1.square().flatten(1).sum(1).mean()
r1.backward()
z = noise(8, 4).requires_grad_()
img = G(z)
(pl,) = autograd.grad((img * noise(*img.shape) / 16).sum(), z, create_graph=True)
plen = pl.pow(2).sum(1).sqrt()
gz = autograd.grad((plen - plen.mean()).pow(2).mean(), G.project.weight)[0]
lin = spectral_norm(nn.Linear(5, 3), n_power_iterations=3)
lin.weight_orig.data = noise(3, 5)
lin.weight_u.copy_(torch.nn.functional.normalize(noise(3), dim=0))
lin.bias.data.zero_()
y = lin(noise(2, 5))
y.sum().backward()
hinge = torch.relu(1 - D(real)).mean() + torch.relu(1 + D(fake)).mean()
OUT = dict(
    log=log,
    r1=r1,
    dg=[p.grad for p in D.parameters()],
    plen=plen,
    gz=gz,
    sn=y,
    sng=lin.weight_orig.grad,
    hinge=hinge,
    sk=sorted(lin.state_dict()),
)
