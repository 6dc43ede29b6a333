"""A Fourier neural operator, SIREN with derivatives as losses, and a complex-valued network."""

import operator
from functools import reduce

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.modules.utils import _pair

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(31)


def R(*shape, s=1.0):
    return torch.from_numpy(rng.normal(0, s, shape))


class SpectralConv2d(nn.Module):
    def __init__(self, i, o, modes):
        super().__init__()
        self.i, self.o = i, o
        self.modes1, self.modes2 = _pair(modes)
        scale = 1 / (i * o)
        self.weights1 = nn.Parameter(
            scale
            * torch.complex(R(i, o, self.modes1, self.modes2), R(i, o, self.modes1, self.modes2))
        )
        self.weights2 = nn.Parameter(
            scale
            * (R(i, o, self.modes1, self.modes2) + 1j * R(i, o, self.modes1, self.modes2)).to(
                torch.cdouble
            )
        )

    def compl_mul2d(self, input, weights):
        return torch.einsum("bixy,ioxy->boxy", input, weights)

    def forward(self, x):
        x_ft = torch.fft.rfft2(x)
        out = torch.zeros(
            x.shape[0],
            self.o,
            x.size(-2),
            x.size(-1) // 2 + 1,
            dtype=torch.cdouble,
            device=x.device,
        )
        out[:, :, : self.modes1, : self.modes2] = self.compl_mul2d(
            x_ft[:, :, : self.modes1, : self.modes2], self.weights1
        )
        out[:, :, -self.modes1 :, : self.modes2] = self.compl_mul2d(
            x_ft[:, :, -self.modes1 :, : self.modes2], self.weights2
        )
        return torch.fft.irfft2(out, s=(x.size(-2), x.size(-1)))


class FNO(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.p = nn.Linear(3, width)
        self.c0, self.c1 = SpectralConv2d(width, width, 3), SpectralConv2d(width, width, (3, 2))
        self.w0, self.w1 = nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.norm = nn.InstanceNorm2d(width)
        self.q = nn.Linear(width, 1)

    def get_grid(self, shape):
        b, sx, sy = shape[0], shape[1], shape[2]
        gx = (
            torch.tensor(np.linspace(0, 1, sx), dtype=torch.float64)
            .reshape(1, sx, 1, 1)
            .repeat([b, 1, sy, 1])
        )
        gy = (
            torch.tensor(np.linspace(0, 1, sy), dtype=torch.double)
            .reshape(1, 1, sy, 1)
            .repeat([b, sx, 1, 1])
        )
        return torch.cat((gx, gy), dim=-1)

    def forward(self, x):
        x = torch.cat((x, self.get_grid(x.shape)), dim=-1)
        x = self.p(x).permute(0, 3, 1, 2)
        x = F.pad(x, [0, 2, 0, 2])
        for c, w in ((self.c0, self.w0), (self.c1, self.w1)):
            x = F.gelu(self.norm(c(self.norm(x))) + w(x))
        x = x[..., :-2, :-2].permute(0, 2, 3, 1)
        return self.q(x)


class LpLoss:
    def __init__(self, p=2):
        self.p = p

    def __call__(self, x, y):
        n = x.size()[0]
        d = torch.norm(x.reshape(n, -1) - y.reshape(n, -1), self.p, 1)
        return torch.mean(d / torch.norm(y.reshape(n, -1), self.p, 1))


model = FNO()
for p in model.parameters():
    if not p.is_complex():
        p.data = R(*p.shape, s=0.3)
opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
x, y = R(3, 9, 8, 1), R(3, 9, 8, 1)
trace = []
for _ in range(5):
    model.train()
    opt.zero_grad()
    loss = LpLoss()(model(x).view(3, -1), y.view(3, -1))
    loss.backward()
    opt.step()
    sched.step()
    trace.append(loss.item())
n_params = 0
for p in list(model.parameters()):
    n_params += reduce(operator.mul, list(p.size() + (2,) if p.is_complex() else p.size()))


class Sine(nn.Module):
    def __init__(self, w0=30.0):
        super().__init__()
        self.w0 = w0

    def forward(self, x):
        return torch.sin(self.w0 * x)


siren = nn.Sequential(nn.Linear(2, 12), Sine(6.0), nn.Linear(12, 12), Sine(6.0), nn.Linear(12, 1))
for i, m in enumerate(m for m in siren if isinstance(m, nn.Linear)):
    with torch.no_grad():
        b = 1 / 2 if i == 0 else np.sqrt(6 / 12) / 6.0
        m.weight.copy_(torch.from_numpy(rng.uniform(-b, b, tuple(m.weight.shape))))
        m.bias.zero_()


def gradient(y, x, grad_outputs=None):
    if grad_outputs is None:
        grad_outputs = torch.ones_like(y)
    return torch.autograd.grad(y, [x], grad_outputs=grad_outputs, create_graph=True)[0]


def divergence(y, x):
    div = 0.0
    for i in range(y.shape[-1]):
        div += torch.autograd.grad(y[..., i], x, torch.ones_like(y[..., i]), create_graph=True)[0][
            ..., i : i + 1
        ]
    return div


opt = torch.optim.LBFGS(siren.parameters(), lr=0.5, max_iter=4, history_size=5)
pts = torch.from_numpy(rng.uniform(-1, 1, (20, 2))).requires_grad_(True)
st = []


def closure():
    opt.zero_grad()
    u = siren(pts)
    lap = divergence(gradient(u, pts), pts)
    loss = ((lap + torch.sin(np.pi * pts[:, :1])) ** 2).mean() * 1e-3 + F.l1_loss(
        u, torch.zeros_like(u)
    )
    loss.backward()
    st.append(loss.item())
    return loss


opt.step(closure)


class ModReLU(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.b = nn.Parameter(torch.full((n,), -0.1))

    def forward(self, z):
        return torch.polar(F.relu(z.abs() + self.b), z.angle())


lin = nn.Linear(4, 4, dtype=torch.cdouble)
lin.weight.data = torch.view_as_complex(R(4, 4, 2))
lin.bias.data = torch.zeros(4, dtype=torch.cdouble)
cnet = nn.Sequential(lin, ModReLU(4))
z = torch.view_as_complex(R(5, 4, 2)).requires_grad_()
out = cnet(z)
(out.abs() ** 2).mean().backward()
sgd = torch.optim.SGD(cnet.parameters(), lr=0.1, momentum=0.9)
sgd.step()
spec = torch.stft(
    R(2, 64), n_fft=16, hop_length=4, window=torch.hann_window(16), return_complex=True
)
OUT = {
    "trace": trace,
    "n": n_params,
    "siren": st,
    "gz": z.grad,
    "w": lin.weight.detach(),
    "spec": spec.abs().mean(-1),
    "lr": sched.get_last_lr(),
}
