import numpy as np
import torch
import torch.nn.functional as F
from torch import autograd, nn

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(5)


class ResNetLayer(nn.Module):
    def __init__(self, n, inner, num_groups=2):
        super().__init__()
        self.conv1 = nn.Conv2d(n, inner, 3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(inner, n, 3, padding=1, bias=False)
        self.norm1, self.norm2, self.norm3 = (
            nn.GroupNorm(num_groups, inner),
            nn.GroupNorm(num_groups, n),
            nn.GroupNorm(num_groups, n),
        )

    def forward(self, z, x):
        y = self.norm1(F.relu(self.conv1(z)))
        return self.norm3(F.relu(z + self.norm2(x + self.conv2(y))))


def anderson(f, x0, m=4, lam=1e-4, max_iter=12, tol=1e-10, beta=1.0):
    bsz, d, H, W = x0.shape
    X = torch.zeros(bsz, m, d * H * W, dtype=x0.dtype, device=x0.device)
    Fv = torch.zeros(bsz, m, d * H * W, dtype=x0.dtype, device=x0.device)
    X[:, 0], Fv[:, 0] = x0.view(bsz, -1), f(x0).view(bsz, -1)
    X[:, 1], Fv[:, 1] = Fv[:, 0], f(Fv[:, 0].view_as(x0)).view(bsz, -1)
    H = torch.zeros(bsz, m + 1, m + 1, dtype=x0.dtype, device=x0.device)
    H[:, 0, 1:] = H[:, 1:, 0] = 1
    y = torch.zeros(bsz, m + 1, 1, dtype=x0.dtype, device=x0.device)
    y[:, 0] = 1
    res = []
    for k in range(2, max_iter):
        n = min(k, m)
        G = Fv[:, :n] - X[:, :n]
        H[:, 1 : n + 1, 1 : n + 1] = (
            torch.bmm(G, G.transpose(1, 2)) + lam * torch.eye(n, dtype=x0.dtype)[None]
        )
        alpha = torch.linalg.solve(H[:, : n + 1, : n + 1], y[:, : n + 1])[:, 1 : n + 1, 0]
        X[:, k % m] = (
            beta * (alpha[:, None] @ Fv[:, :n])[:, 0]
            + (1 - beta) * (alpha[:, None] @ X[:, :n])[:, 0]
        )
        Fv[:, k % m] = f(X[:, k % m].view_as(x0)).view(bsz, -1)
        res.append((Fv[:, k % m] - X[:, k % m]).norm().item() / (1e-5 + Fv[:, k % m].norm().item()))
        if res[-1] < tol:
            break
    return X[:, k % m].view_as(x0), res


class DEQ(nn.Module):
    def __init__(self, f, solver, **kw):
        super().__init__()
        self.f, self.solver, self.kw = f, solver, kw

    def forward(self, x):
        with torch.no_grad():
            z, self.forward_res = self.solver(
                lambda z: self.f(z, x), torch.zeros_like(x), **self.kw
            )
        z = self.f(z, x)
        z0 = z.clone().detach().requires_grad_()
        f0 = self.f(z0, x)

        def backward_hook(grad):
            g, self.backward_res = self.solver(
                lambda y: autograd.grad(f0, z0, y, retain_graph=True)[0] + grad, grad, **self.kw
            )
            return g

        z.register_hook(backward_hook)
        return z


f = ResNetLayer(4, 6)
for p in f.parameters():
    p.data.normal_(0, 0.01).copy_(torch.from_numpy(rng.normal(0, 0.08, tuple(p.shape))))
model = nn.Sequential(
    nn.Conv2d(1, 4, 3, bias=True, padding=1),
    nn.BatchNorm2d(4),
    DEQ(f, anderson),
    nn.BatchNorm2d(4),
    nn.AvgPool2d(4, 4),
    nn.Flatten(),
    nn.Linear(4 * 4, 3),
)
for i in (0, 6):
    for p in model[i].parameters():
        p.data.copy_(torch.from_numpy(rng.normal(0, 0.2, tuple(p.shape))))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 6, eta_min=1e-6)
ls = []
for _ in range(3):
    X, y = torch.from_numpy(rng.normal(size=(5, 1, 8, 8))), torch.from_numpy(rng.integers(0, 3, 5))
    yp = model(X)
    loss = nn.CrossEntropyLoss()(yp, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sch.step()
    ls.append((loss.item(), (yp.max(dim=1)[1] != y).sum().item()))
OUT = {
    "ls": ls,
    "back": len(model[2].backward_res),
    "p": [p.detach().clone() for p in f.parameters()],
    "lr": opt.param_groups[0]["lr"],
}
