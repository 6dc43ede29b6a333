import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Function

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(16)


def rk4(f, t0, t1, y, n=6):
    h = (t1 - t0) / n
    t = t0
    for _ in range(n):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t = t + h
    return y


class Adjoint(Function):
    @staticmethod
    def forward(ctx, func, y0, t0, t1, flat):
        with torch.no_grad():
            y1 = rk4(func, t0, t1, y0)
        ctx.func = func
        ctx.save_for_backward(y1, t0, t1, flat)
        return y1

    @staticmethod
    def backward(ctx, gy):
        func = ctx.func
        y1, t0, t1, flat = ctx.saved_tensors
        params = tuple(func.parameters())
        n = y1.numel()

        def aug(t, s):
            y, a = s[:n].view_as(y1), s[n : 2 * n].view_as(y1)
            with torch.enable_grad():
                y = y.detach().requires_grad_(True)
                f = func(t, y)
                gy, *gp = torch.autograd.grad(f, (y, *params), -a, allow_unused=True)
            gp = torch.cat(
                [
                    torch.zeros_like(p).reshape(-1) if g is None else g.reshape(-1)
                    for p, g in zip(params, gp)
                ]
            )
            return torch.cat([f.detach().reshape(-1), gy.reshape(-1), gp])

        s = torch.cat([y1.reshape(-1), gy.reshape(-1), torch.zeros_like(flat)])
        s = rk4(aug, t1, t0, s)
        return None, s[n : 2 * n].view_as(y1), None, None, s[2 * n :]


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                m.weight.data = torch.from_numpy(rng.normal(0, 0.3, tuple(m.weight.shape)))
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y**3)


func = ODEFunc()
A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
y0 = torch.tensor([[2.0, 0.0], [1.0, 1.0]])
times = torch.linspace(0.0, 0.5, 4)
truth = [y0]
for i in range(3):
    truth.append(rk4(lambda t, y: torch.mm(y**3, A), times[i], times[i + 1], truth[-1]))
opt = torch.optim.RMSprop(func.parameters(), lr=1e-2)
ls = []
for it in range(6):
    y, loss = y0, 0.0
    for i in range(3):
        flat = torch.cat([p.reshape(-1) for p in func.parameters()])
        y = Adjoint.apply(func, y, times[i], times[i + 1], flat)
        loss = loss + (y - truth[i + 1]).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    ls.append(loss.item())
g = [p.grad.clone() for p in func.parameters()]
# Direct differentiation for comparison
opt.zero_grad()
y1 = rk4(func, times[0], times[3], y0)
y1.pow(2).sum().backward()
A_exp = torch.matrix_exp(A * 0.1)
OUT = dict(l=ls, g=g, d=func.net[0].weight.grad, e=A_exp)
