import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(40)


class Basic(nn.Module):
    def __init__(self, i, o, stride=1):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.relu = nn.ReLU()
        self.downsample = (
            nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))
            if stride != 1
            else None
        )

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


net = nn.Sequential()
net.add_module("stem", nn.Conv2d(3, 4, 3, padding=1))
net.add_module("layer1", nn.Sequential(Basic(4, 4)))
net.add_module("layer2", nn.Sequential(Basic(4, 6, 2), Basic(6, 6)))
net.add_module("pool", nn.AdaptiveAvgPool2d((1, 1)))
net.add_module("flat", nn.Flatten())
net.add_module("fc", nn.Linear(6, 5))
for p in net.parameters():
    p.data = torch.from_numpy(rng.normal(0, 0.2, tuple(p.shape))) + (1.0 if p.ndim == 1 else 0.0)
net.eval()
x = torch.from_numpy(rng.normal(size=(2, 3, 12, 12)))
store, order = {}, []
layer = net.get_submodule("layer2.1")
hs = [
    layer.register_forward_hook(lambda m, i, o: store.__setitem__("a", o)),
    layer.register_full_backward_hook(lambda m, gi, go: store.__setitem__("g", go[0])),
]
hs += [
    net.layer1.register_forward_pre_hook(lambda m, a, k: order.append("pre"), with_kwargs=True),
    net.layer1.register_forward_hook(
        lambda m, a, k, o: order.append("post"), with_kwargs=True, prepend=True
    ),
    net.fc.register_full_backward_pre_hook(lambda m, go: order.append("bpre")),
]
out = net(x)
cls = out.argmax(1)
out.gather(1, cls[:, None]).sum().backward()
w = store["g"].mean(dim=(2, 3), keepdim=True)
cam = F.interpolate(
    F.relu((w * store["a"]).sum(1, keepdim=True)),
    size=(12, 12),
    mode="bilinear",
    align_corners=False,
)
cam = (cam - cam.amin((2, 3), True)) / (cam.amax((2, 3), True) - cam.amin((2, 3), True) + 1e-8)
for h in hs:
    h.remove()
gb = [
    m.register_full_backward_hook(lambda m, gi, go: (gi[0].clamp(min=0),))
    for m in net.modules()
    if isinstance(m, nn.ReLU)
]
xg = x.clone().requires_grad_()
net(xg)[:, 1].sum().backward()
guided = xg.grad.clone()
[h.remove() for h in gb]
base = torch.zeros_like(x)
al = torch.linspace(0, 1, 9).view(-1, 1, 1, 1, 1)
path = (base + al * (x - base)).flatten(0, 1).requires_grad_()
tgt = cls.repeat(9)
gr = torch.autograd.grad(net(path)[torch.arange(18), tgt].sum(), path)[0].view(9, *x.shape)
ig = (x - base) * torch.trapezoid(gr, dx=1 / 8, dim=0)
comp = (
    ig.flatten(1).sum(1),
    net(x).gather(1, cls[:, None])[:, 0] - net(base).gather(1, cls[:, None])[:, 0],
)
occ = torch.zeros(2, 3, 3)
with torch.no_grad():
    for i in range(3):
        for j in range(3):
            xo = x.clone()
            xo[:, :, 4 * i : 4 * i + 4, 4 * j : 4 * j + 4] = 0
            occ[:, i, j] = (net(x) - net(xo)).gather(1, cls.unsqueeze(1)).squeeze()
mlp = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
for p in mlp.parameters():
    p.data = torch.from_numpy(rng.normal(size=tuple(p.shape)))
A = [torch.from_numpy(rng.normal(size=(2, 4)))]
for l in mlp:
    A.append(l(A[-1]))
R = A[-1] * F.one_hot(A[-1].argmax(1), 3)
for l, a in zip(reversed(mlp), reversed(A[:-1])):
    if isinstance(l, nn.Linear):
        a = a.detach().requires_grad_()
        z = l(a)
        s = (R / (z + 1e-6 * z.sign())).detach()
        (z * s).sum().backward()
        R = a * a.grad
names = [n for n, m in net.named_modules() if isinstance(m, nn.Conv2d)]
OUT = dict(
    cam=cam,
    guided=guided,
    ig=ig,
    comp=comp,
    occ=occ,
    R=R,
    order=order,
    names=names,
    emb=F.adaptive_max_pool2d(cam, 3),
)
