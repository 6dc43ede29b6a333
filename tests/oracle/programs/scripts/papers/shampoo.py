import numpy as np
import torch
import torch.nn as nn
from torch.optim import Optimizer

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(6)


class Shampoo(Optimizer):
    def __init__(self, params, lr=0.1, momentum=0.9, eps=1e-4):
        super().__init__(params, dict(lr=lr, momentum=momentum, eps=eps))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                g, st = p.grad, self.state[p]
                if len(st) == 0:
                    st["step"] = 0
                    st["buf"] = g.clone()
                    for d, n in enumerate(g.size()):
                        st[f"pre{d}"] = group["eps"] * torch.eye(n, out=g.new(n, n))
                        st[f"inv{d}"] = g.new(n, n).zero_()
                g = g.mul(1 - group["momentum"]).add(st["buf"], alpha=group["momentum"])
                for d, n in enumerate(g.size()):
                    pre, inv = st[f"pre{d}"], st[f"inv{d}"]
                    g = g.transpose_(0, d).contiguous()
                    size = g.size()
                    g = g.view(n, -1)
                    gt = g.t()
                    pre.add_(g @ gt)
                    u, s, v = torch.svd(pre)
                    inv.copy_(u @ s.pow_(-1 / p.dim()).diag() @ v.t())
                    if d == p.dim() - 1:
                        g = (gt @ inv).view(size[::-1]) if False else (gt @ inv).reshape(p.size())
                    else:
                        g = (inv @ g).view(size)
                st["step"] += 1
                st["buf"] = g
                p.add_(g, alpha=-group["lr"])
        return loss


net = nn.Sequential(
    nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(27, 4)
)
for p in net.parameters():
    p.data = torch.from_numpy(rng.normal(0, 0.3, tuple(p.shape)))
x = torch.from_numpy(rng.normal(size=(8, 1, 6, 6)))
y = torch.from_numpy(rng.integers(0, 4, 8))
acts, grads = {}, {}
for name, m in net.named_modules():
    if isinstance(m, (nn.Conv2d, nn.Linear)):
        m.register_forward_pre_hook(lambda m, i, name=name: acts.__setitem__(name, i[0].detach()))
        m.register_full_backward_hook(lambda m, gi, go, name=name: grads.__setitem__(name, go[0]))
opt = Shampoo(
    [{"params": net[0].parameters(), "lr": 0.02}, {"params": net[4].parameters()}], lr=0.01
)
log = []
for it in range(4):

    def closure():
        opt.zero_grad()
        l = nn.functional.cross_entropy(
            net(x), y, label_smoothing=0.1, weight=torch.tensor([1.0, 2.0, 0.5, 1.0])
        )
        l.backward()
        return l

    log.append(opt.step(closure).item())
cols = nn.functional.unfold(acts["0"], 3, padding=1)
Af = torch.einsum("bil,bjl->ij", cols, cols) / 8
Gf = torch.einsum("bchw,bdhw->cd", grads["0"], grads["0"])
a4 = torch.cat([acts["4"], torch.ones(8, 1)], 1)
A4 = a4.T @ a4 / 8
ev, U = torch.linalg.eigh(Gf + 0.1 * torch.eye(3))
nat = (
    (U * ev.rsqrt()) @ U.T @ net[0].weight.grad.flatten(1) @ torch.inverse(Af + 0.1 * torch.eye(9))
)
OUT = dict(
    log=log,
    nat=nat,
    A4=A4,
    kr=torch.kron(Gf, torch.eye(2)),
    buf=opt.state[net[0].weight]["buf"],
    n=repr(opt).count("lr"),
)
