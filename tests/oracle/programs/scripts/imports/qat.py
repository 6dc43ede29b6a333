"""Quantisation-aware training: LSQ, DoReFa, binary nets, fake quantisation."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parameter import Parameter

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(11)


class LsqQuan(nn.Module):
    def __init__(self, bit, symmetric=True, per_channel=False):
        super().__init__()
        self.neg, self.pos = (
            (-(2 ** (bit - 1)), 2 ** (bit - 1) - 1) if symmetric else (0, 2**bit - 1)
        )
        self.per_channel = per_channel
        self.s = Parameter(torch.ones(1))

    def init_from(self, x):
        if self.per_channel:
            self.s = nn.Parameter(
                x.detach().abs().mean(dim=list(range(1, x.dim())), keepdim=True)
                * 2
                / (self.pos**0.5)
            )
        else:
            self.s = nn.Parameter(x.detach().abs().mean() * 2 / (self.pos**0.5))

    @staticmethod
    def grad_scale(x, scale):
        y_grad = x * scale
        return (x - y_grad).detach() + y_grad

    @staticmethod
    def round_pass(x):
        y = x.round()
        return (y - x).detach() + x

    def forward(self, x):
        g = 1.0 / ((self.pos * x.numel()) ** 0.5)
        s = self.grad_scale(self.s, g)
        x = torch.clamp(x / s, self.neg, self.pos)
        return self.round_pass(x) * s


class QConv(nn.Conv2d):
    def __init__(self, m, wq, aq):
        super().__init__(
            m.in_channels,
            m.out_channels,
            m.kernel_size,
            stride=m.stride,
            padding=m.padding,
            dilation=m.dilation,
            groups=m.groups,
            bias=m.bias is not None,
        )
        self.wq, self.aq = wq, aq
        self.weight = nn.Parameter(m.weight.detach())
        self.wq.init_from(m.weight)
        if m.bias is not None:
            self.bias = nn.Parameter(m.bias.detach())

    def forward(self, x):
        return self._conv_forward(self.aq(x), self.wq(self.weight), self.bias)


class BinActive(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        mean = torch.mean(input.abs(), 1, keepdim=True)
        return input.sign(), mean

    @staticmethod
    def backward(ctx, grad_output, grad_mean):
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input.ge(1)] = 0
        grad_input[input.le(-1)] = 0
        return grad_input


class Dorefa(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        n = float(2**k - 1)
        return torch.round(x * n) / n

    @staticmethod
    def backward(ctx, g):
        return g, None


def dorefa_weight(w, k=3):
    t = torch.tanh(w)
    return 2 * Dorefa.apply(t / (2 * t.abs().max()) + 0.5, k) - 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.c2, self.b2 = nn.Conv2d(4, 4, 3, groups=2, bias=False), nn.BatchNorm2d(4)
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        x = F.relu6(self.b1(self.c1(x)))
        x = F.hardswish(self.b2(self.c2(x)))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def replace(model):
    for name, child in model.named_children():
        if isinstance(child, nn.Conv2d):
            setattr(
                model, name, QConv(child, LsqQuan(4, per_channel=True), LsqQuan(4, symmetric=False))
            )
        else:
            replace(child)
    return model


net = Net()
for p in net.parameters():
    if p.ndim > 1:
        p.data.copy_(torch.from_numpy(rng.normal(0, 0.5, tuple(p.shape))))
for m in (net.c1, net.fc):
    nn.init.zeros_(m.bias)
net = replace(net)
X, Y = (
    torch.from_numpy(rng.normal(size=(5, 6, 2, 6, 6))),
    torch.from_numpy(rng.integers(0, 3, (5, 6))),
)
groups = [
    {
        "params": [p for n, p in net.named_parameters() if n.endswith(".s")],
        "lr": 1e-3,
        "weight_decay": 0,
    },
    {"params": [p for n, p in net.named_parameters() if not n.endswith(".s")]},
]
opt = torch.optim.SGD(groups, lr=0.05, momentum=0.9, weight_decay=1e-4)
trace = []
for x, y in zip(X, Y):
    loss = F.cross_entropy(net(x), y, label_smoothing=0.1)
    opt.zero_grad()
    loss.backward()
    opt.step()
    trace.append(loss.item())
w = torch.from_numpy(rng.normal(size=(6, 4))).requires_grad_()
b, mean = BinActive.apply(w)
(b * mean).sum().backward()
gb = w.grad.clone()
w.grad = None
(dorefa_weight(w) ** 2).sum().backward()
x = torch.from_numpy(rng.normal(size=(3, 4)).astype("float32")).requires_grad_()
scale, zp = (
    torch.tensor([0.1, 0.05, 0.2], dtype=torch.float32),
    torch.tensor([0, 3, -2], dtype=torch.int32),
)
q1 = torch.fake_quantize_per_tensor_affine(x, 0.05, 2, -8, 7)
q2 = torch.fake_quantize_per_channel_affine(x, scale, zp, 0, -8, 7)
(q1.sum() * 2 + (q2 * q2).sum()).backward()
OUT = {
    "trace": trace,
    "s": [p.detach() for n, p in net.named_parameters() if n.endswith(".s")],
    "gb": gb,
    "gd": w.grad,
    "gq": x.grad,
    "q2": q2.detach(),
    "keys": list(net.state_dict()),
}
