import io
from collections import OrderedDict, defaultdict
from functools import partial

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.prune as prune

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(12)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            OrderedDict(
                [
                    ("conv1", nn.Conv2d(1, 4, 3)),
                    ("act", nn.ReLU()),
                    ("conv2", nn.Conv2d(4, 6, 3)),
                    ("pool", nn.MaxPool2d(2)),
                ]
            )
        )
        self.fc1, self.fc2 = nn.Linear(6 * 2 * 2, 8), nn.Linear(8, 3)

    def forward(self, x):
        x = torch.flatten(self.features(x), 1)
        return self.fc2(torch.tanh(self.fc1(x)))


net = Net()
for p in net.parameters():
    p.data = torch.from_numpy(rng.normal(0, 0.4, p.shape))
x, y = torch.from_numpy(rng.normal(size=(5, 1, 8, 8))), torch.from_numpy(rng.integers(0, 3, 5))
acts, grads, handles = OrderedDict(), {}, []


def save(name, module, inp, out):
    acts[name] = out.detach()


for name, m in net.named_modules():
    if not list(m.children()):
        handles.append(m.register_forward_hook(partial(save, name)))
target = net.features.conv2
handles.append(
    target.register_full_backward_hook(lambda m, gi, go: grads.__setitem__("conv2", (gi[0], go[0])))
)
handles.append(net.fc1.register_forward_pre_hook(lambda m, args: (args[0] * 0.5,)))
counts = {
    k: (len(m._forward_hooks), len(m._forward_pre_hooks), len(m._backward_hooks))
    for k, m in net.named_modules()
}
out = net(x)
out.gather(1, y.view(-1, 1)).sum().backward()
cam = F.relu((grads["conv2"][1].mean((2, 3), keepdim=True) * acts["features.conv2"]).sum(1))
cam = F.interpolate(
    cam.unsqueeze(1), size=x.shape[-2:], mode="bilinear", align_corners=False
).squeeze(1)
for h in handles:
    h.remove()
assert not net.features.conv2._forward_hooks
flops = defaultdict(int)


def count(m, i, o):
    flops[type(m).__name__] += o.numel() * (m.weight[0].numel() if hasattr(m, "weight") else 1)


hs = [
    m.register_forward_hook(count) for m in net.modules() if not isinstance(m, (Net, nn.Sequential))
]
net(x)
[h.remove() for h in hs]
# pruning, as in the tutorial
prune.random_unstructured(net.features.conv1, name="weight", amount=0.3)
zeros = float(torch.sum(net.features.conv1.weight == 0))
prune.remove(net.features.conv1, "weight")
net.features.conv1.weight.data = torch.from_numpy(rng.normal(0, 0.4, (4, 1, 3, 3)))
prune.l1_unstructured(net.features.conv2, name="bias", amount=3)
prune.ln_structured(net.features.conv2, name="weight", amount=0.5, n=2, dim=0)
kinds = [type(h).__name__ for h in net.features.conv2._forward_pre_hooks.values()]


class FooBarPruningMethod(prune.BasePruningMethod):
    """Prune every other entry in a tensor"""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        mask.view(-1)[::2] = 0
        return mask


def foobar_unstructured(module, name):
    FooBarPruningMethod.apply(module, name)
    return module


foobar_unstructured(net.fc2, "bias")
prune.l1_unstructured(net.fc2, "weight", amount=4)
prune.l1_unstructured(net.fc2, "weight", amount=0.25)
containers = [
    (type(h).__name__, h._tensor_name, len(h) if isinstance(h, prune.PruningContainer) else 1)
    for h in net.fc2._forward_pre_hooks.values()
]
prune.global_unstructured(
    ((net.fc1, "weight"), (net.features.conv1, "weight")),
    pruning_method=prune.L1Unstructured,
    amount=0.4,
)
sparsity = [
    (m.weight == 0).double().mean().item()
    for m in (net.fc1, net.features.conv1, net.features.conv2, net.fc2)
]
mask = net.fc1.weight_mask.clone()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
assert ((net.fc1.weight == 0) | (mask == 1)).all()
pruned = [n for n, _ in net.named_buffers()]
f = io.BytesIO()
torch.save(dict(model=net.state_dict(), opt=opt.state_dict(), epoch=3), f)
f.seek(0)
ckpt = torch.load(f, weights_only=True)
for m, n in ((net.fc1, "weight"), (net.fc2, "weight"), (net.fc2, "bias")):
    prune.remove(m, n)
other = Net()
missing = other.load_state_dict(
    {k.replace("_orig", ""): v for k, v in ckpt["model"].items() if "mask" not in k}, strict=False
)
OUT = dict(
    counts=[list(v) for v in counts.values()],
    out=out,
    cam=cam,
    flops=dict(flops),
    kinds=kinds,
    containers=containers,
    sparsity=sparsity[0],
    zeros=zeros,
    pruned=pruned,
    keys=list(ckpt["model"]),
    missing=list(missing.missing_keys),
    bias=net.fc2.bias,
    ispruned=prune.is_pruned(net),
    acts=list(acts),
)
