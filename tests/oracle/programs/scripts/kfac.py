import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(22)


class KFAC(torch.optim.Optimizer):
    def __init__(self, net, lr=0.05, damping=1e-2, alpha=0.9):
        self.damping, self.alpha, self.steps = damping, alpha, 0
        self._fwd, self._bwd = {}, {}
        params = []
        for mod in net.modules():
            if isinstance(mod, nn.Linear):
                mod.register_forward_pre_hook(self._save_input)
                mod.register_full_backward_hook(self._save_grad)
                params.append({"params": [mod.weight, mod.bias], "mod": mod})
        super().__init__(params, {"lr": lr})

    def _save_input(self, mod, i):
        if torch.is_grad_enabled():
            self._fwd[mod] = i[0].detach()

    def _save_grad(self, mod, gi, go):
        self._bwd[mod] = go[0] * go[0].size(0)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            mod = group["mod"]
            weight, bias = group["params"]
            x = torch.cat([self._fwd[mod], torch.ones_like(self._fwd[mod][:, :1])], dim=1)
            g = self._bwd[mod]
            xxt, ggt = x.t() @ x / len(x), g.t().mm(g) / len(g)
            st = self.state[weight]
            if self.steps == 0:
                st["A"], st["G"] = xxt, ggt
            else:
                st["A"].mul_(self.alpha).addmm_(x.t(), x, beta=1, alpha=(1 - self.alpha) / len(x))
                st["G"].mul_(self.alpha).add_(ggt, alpha=1 - self.alpha)
            ex, vx = torch.linalg.eigh(st["A"] + self.damping * torch.eye(x.size(1)))
            ig = torch.cholesky_inverse(
                torch.linalg.cholesky(st["G"] + self.damping * torch.eye(g.size(1)))
            )
            ia = vx @ torch.diag(1 / ex) @ vx.t()
            full = torch.cat([weight.grad, bias.grad.unsqueeze(1)], dim=1)
            nat = ig @ full @ ia
            weight.grad.data.copy_(nat[:, :-1])
            bias.grad.copy_(nat[:, -1])
            nu = min(
                1.0, np.sqrt(1e-2 / (abs((full * nat).sum()).item() * group["lr"] ** 2 + 1e-12))
            )
            weight.add_(weight.grad, alpha=-group["lr"] * nu)
            bias.add_(bias.grad, alpha=-group["lr"] * nu)
        self.steps += 1


net = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 3))
for p in net.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.4, tuple(p.shape))))
x = torch.from_numpy(rng.normal(size=(80, 4)))
y = x[:, :3].argmax(1)
opt = KFAC(net)
ls = []
for _ in range(12):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    ls.append(loss.item())
# exact Fisher by Kronecker product for the last layer
K = torch.kron(opt.state[net[2].weight]["A"], opt.state[net[2].weight]["G"])
sign, logdet = torch.linalg.slogdet(K + 0.1 * torch.eye(K.size(0)))
OUT = dict(l=ls, ld=logdet, tr=torch.trace(K), rank=torch.linalg.matrix_rank(K), w=net[0].weight)
