import numpy as np
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(34)
blocks = nn.Sequential(
    *[nn.Sequential(nn.Linear(8, 8), nn.Softsign(), nn.LayerNorm(8)) for _ in range(4)]
)
for p in blocks.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.5, p.shape)))
x = torch.from_numpy(rng.normal(size=(5, 8)))
calls = []


class Count(nn.Module):
    def forward(self, x):
        calls.append(1)
        return x * 2


def run(mode):
    blocks.zero_grad()
    xx = x.clone().requires_grad_()
    if mode == "plain":
        out = blocks(xx)
    elif mode == "seq":
        out = checkpoint_sequential(blocks, 2, xx, use_reentrant=False)
    else:
        out = xx
        for b in blocks:
            out = checkpoint(b, out, use_reentrant=(mode == "re"))
    out.pow(2).mean().backward()
    return torch.cat([xx.grad.flatten(), *[p.grad.flatten() for p in blocks.parameters()]])


ref = run("plain")
same = [torch.equal(ref, run(m)) for m in ("seq", "re", "non")]
c = Count()
out = checkpoint(c, x.clone().requires_grad_(), use_reentrant=False, preserve_rng_state=True)
out.sum().backward()
# offloading saved tensors
packed = []
with torch.autograd.graph.saved_tensors_hooks(
    lambda t: (packed.append(t.numel()), t.numpy().copy())[1] if not t.requires_grad else t,
    lambda v: torch.from_numpy(v) if isinstance(v, np.ndarray) else v,
):
    y = (x.clone().requires_grad_() * x).exp().sum()
with torch.autograd.graph.save_on_cpu():
    w = x.clone().requires_grad_()
    z = (w.sin() * w).sum()
z.backward()
OUT = dict(ref=ref, same=same, calls=len(calls), packed=sum(packed) > 0, w=w.grad)
