"""Optimizers and schedulers of one's own: LAMB, Lion, SAM, Lookahead, Shampoo; a warm-up."""

import math
from collections import defaultdict

import numpy as np
import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, _LRScheduler
from torch.optim.optimizer import required

torch.set_default_dtype(torch.float64)


class Lamb(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0, adam=False):
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
        self.adam = adam
        super().__init__(params, defaults)

    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad.data
                if grad.is_sparse:
                    raise RuntimeError("no sparse")
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p.data)
                    state["exp_avg_sq"] = torch.zeros_like(
                        p.data, memory_format=torch.preserve_format
                    )
                exp_avg, exp_avg_sq = state["exp_avg"], state["exp_avg_sq"]
                beta1, beta2 = group["betas"]
                state["step"] += 1
                exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
                exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                weight_norm = p.data.pow(2).sum().sqrt().clamp(0, 10)
                adam_step = exp_avg / exp_avg_sq.sqrt().add(group["eps"])
                if group["weight_decay"] != 0:
                    adam_step.add_(p.data, alpha=group["weight_decay"])
                adam_norm = adam_step.pow(2).sum().sqrt()
                trust = 1 if weight_norm == 0 or adam_norm == 0 else weight_norm / adam_norm
                state["trust_ratio"] = trust
                p.data.add_(adam_step, alpha=-group["lr"] * float(trust))
        return loss


class Lion(Optimizer):
    def __init__(self, params, lr=required, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in filter(lambda p: p.grad is not None, group["params"]):
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p)
                m, (b1, b2) = state["exp_avg"], group["betas"]
                update = m * b1 + p.grad * (1 - b1)
                p.add_(update.sign_(), alpha=-group["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)
        return loss


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, adaptive=False, **kwargs):
        super().__init__(params, dict(rho=rho, adaptive=adaptive, **kwargs))
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups
        self.defaults.update(self.base_optimizer.defaults)

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        norm = torch.norm(
            torch.stack(
                [
                    ((torch.abs(p) if g["adaptive"] else 1.0) * p.grad).norm(p=2)
                    for g in self.param_groups
                    for p in g["params"]
                    if p.grad is not None
                ]
            ),
            p=2,
        )
        for group in self.param_groups:
            scale = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                self.state[p]["old_p"] = p.data.clone()
                e_w = (torch.pow(p, 2) if group["adaptive"] else 1.0) * p.grad * scale.to(p)
                p.add_(e_w)
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def step(self, closure=None):
        closure = torch.enable_grad()(closure)
        self.first_step(zero_grad=True)
        loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                p.data = self.state[p]["old_p"]
        self.base_optimizer.step()
        self.zero_grad()
        return loss

    def load_state_dict(self, state_dict):
        super().load_state_dict(state_dict)
        self.base_optimizer.param_groups = self.param_groups


class Lookahead(Optimizer):
    def __init__(self, optimizer, k=3, alpha=0.5):
        self.optimizer, self.k, self.alpha = optimizer, k, alpha
        self.param_groups = self.optimizer.param_groups
        self.state = defaultdict(dict)
        self.fast_state, self.defaults = self.optimizer.state, self.optimizer.defaults
        for group in self.param_groups:
            group["counter"] = 0

    def update(self, group):
        for fast in group["params"]:
            ps = self.state[fast]
            if "slow_param" not in ps:
                ps["slow_param"] = torch.zeros_like(fast.data)
                ps["slow_param"].copy_(fast.data)
            slow = ps["slow_param"]
            slow += (fast.data - slow) * self.alpha
            fast.data.copy_(slow)

    def step(self, closure=None):
        loss = self.optimizer.step(closure)
        for group in self.param_groups:
            if group["counter"] == 0:
                self.update(group)
            group["counter"] = (group["counter"] + 1) % self.k
        return loss


class Shampoo(Optimizer):
    def __init__(self, params, lr=1e-1, momentum=0.9, epsilon=1e-4, update_freq=1):
        super().__init__(
            params, dict(lr=lr, momentum=momentum, epsilon=epsilon, update_freq=update_freq)
        )

    @staticmethod
    def power(m, p):
        u, s, v = torch.svd(m)
        return u @ s.pow_(p).diag() @ v.t()

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                grad = p.grad.data
                order, original = grad.ndimension(), grad.size()
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["mom"] = grad.clone()
                    for i, dim in enumerate(grad.size()):
                        state[f"pre_{i}"] = group["epsilon"] * torch.eye(
                            dim, out=grad.new(dim, dim)
                        )
                grad.mul_(1 - group["momentum"]).add_(state["mom"], alpha=group["momentum"])
                for i, dim in enumerate(grad.size()):
                    pre = state[f"pre_{i}"]
                    grad = grad.transpose_(0, i).contiguous()
                    tr = grad.size()
                    grad = grad.view(dim, -1)
                    pre.add_(grad @ grad.t())
                    inv = self.power(pre, -1 / order)
                    grad = inv @ grad
                    grad = grad.view(tr) if i < order - 1 else grad.t().contiguous().view(original)
                state["step"] += 1
                state["mom"] = grad
                p.data.add_(grad, alpha=-group["lr"])


class WarmupCosine(_LRScheduler):
    def __init__(self, optimizer, warmup, total, last_epoch=-1):
        self.warmup, self.total = warmup, total
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch < self.warmup:
            return [b * (self.last_epoch + 1) / self.warmup for b in self.base_lrs]
        t = (self.last_epoch - self.warmup) / (self.total - self.warmup)
        return [b * 0.5 * (1 + math.cos(math.pi * t)) for b in self.base_lrs]


def problem():
    rng = np.random.default_rng(33)
    W, b = (
        torch.from_numpy(rng.normal(size=(4, 3))).requires_grad_(),
        torch.zeros(3, requires_grad=True),
    )
    X, Y = torch.from_numpy(rng.normal(size=(20, 4))), torch.from_numpy(rng.normal(size=(20, 3)))
    return [W, b], lambda: ((torch.tanh(X @ W + b) - Y) ** 2).mean()


OUT = {}
for name, make in {
    "lamb": lambda p: Lamb(p, 0.05, weight_decay=0.01),
    "lion": lambda p: Lion(p, lr=0.01, weight_decay=0.1),
    "sam": lambda p: SAM(p, torch.optim.SGD, rho=0.1, lr=0.1, momentum=0.9),
    "asam": lambda p: SAM(p, torch.optim.Adam, rho=0.5, adaptive=True, lr=0.05),
    "look": lambda p: Lookahead(torch.optim.RAdam(p, lr=0.05)),
    "shampoo": lambda p: Shampoo(p, lr=0.05),
}.items():
    params, f = problem()
    opt = make(params)
    sched = WarmupCosine(opt, 3, 12) if name != "sam" else LambdaLR(opt, lambda e: 0.9**e)
    trace = []
    for it in range(10):

        def closure():
            opt.zero_grad()
            loss = f()
            loss.backward()
            return loss

        loss = closure()
        out = opt.step(closure) if "sam" in name or name == "look" else opt.step()
        sched.step()
        trace.append((loss.item(), sched.get_last_lr()[0]))
    sd = opt.state_dict() if name != "look" else opt.optimizer.state_dict()
    OUT[name] = (
        trace,
        [p.detach() for p in params],
        len(sd["state"]),
        sorted(map(str, sd["param_groups"][0])),
    )
