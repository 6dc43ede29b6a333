"""A language model by truncated backpropagation: stateful LSTM, tied weights, adaptive softmax."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(37)
text = "the quick brown fox jumps over the lazy dog and the dog sleeps " * 3
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text], dtype=torch.long)


def batchify(data, bsz):
    n = data.size(0) // bsz
    return data.narrow(0, 0, n * bsz).view(bsz, -1).t().contiguous()


def repackage(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage(v) for v in h)


class WeightDrop(nn.Module):
    def __init__(self, module, mask):
        super().__init__()
        self.module = module
        self.register_buffer("mask", mask)
        self.raw = nn.Parameter(module.weight_hh_l0.data)
        del module._parameters["weight_hh_l0"]
        module.weight_hh_l0 = self.raw * self.mask

    def forward(self, *args):
        self.module.weight_hh_l0 = self.raw * self.mask
        return self.module(*args)


class LockedDropout(nn.Module):
    def forward(self, x, mask):
        return x if not self.training else x * mask.expand_as(x) / 0.75


class Model(nn.Module):
    def __init__(self, n, d=7):
        super().__init__()
        self.encoder = nn.Embedding(n, d, max_norm=2.0)
        cell = nn.LSTMCell(d, d)
        self.cell = cell
        self.lstm = nn.LSTM(d, d, num_layers=2, dropout=0.0)
        self.lock = LockedDropout()
        self.decoder = nn.Linear(d, n)
        self.decoder.weight = self.encoder.weight
        self.adaptive = nn.AdaptiveLogSoftmaxWithLoss(
            d, n, cutoffs=[8, 16], div_value=2.0, head_bias=True
        )
        self.d = d

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return weight.new_zeros(2, bsz, self.d), weight.new_zeros(2, bsz, self.d)

    def forward(self, x, hidden, mask):
        emb = self.lock(self.encoder(x), mask)
        out, hidden = self.lstm(emb, hidden)
        return self.decoder(out), out, hidden


model = Model(len(chars))
for p in model.parameters():
    p.data.copy_(torch.from_numpy(rng.uniform(-0.4, 0.4, tuple(p.shape))))
train = batchify(data, 4)
opt = torch.optim.ASGD(model.parameters(), lr=0.5, t0=2, lambd=0.0, weight_decay=1e-4)
bptt, log = 7, []
hidden = model.init_hidden(4)
for i in range(0, 28, bptt):
    seq = min(bptt, len(train) - 1 - i)
    x, y = train[i : i + seq], train[i + 1 : i + 1 + seq].reshape(-1)
    hidden = repackage(hidden)
    mask = torch.from_numpy((rng.random((1, 4, 7)) < 0.75).astype(float))
    logits, out, hidden = model(x, hidden, mask)
    ce = F.cross_entropy(logits.view(-1, len(chars)), y)
    ada = model.adaptive(out.view(-1, 7), y)
    ar = 2.0 * out.pow(2).mean() + (out[1:] - out[:-1]).pow(2).mean()
    loss = ce + ada.loss + 0.1 * ar
    model.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(
        model.parameters(), 0.25, norm_type=2.0, error_if_nonfinite=True
    )
    worst = nn.utils.get_total_norm(
        [p.grad for p in model.parameters() if p.grad is not None], float("inf")
    )
    opt.step()
    log.append([ce.item(), ada.loss.item(), norm.item(), worst.item()])
model.eval()
with torch.no_grad():
    h = model.init_hidden(1)
    token, said = torch.tensor([[stoi["t"]]]), []
    for _ in range(12):
        logits, out, h = model(token, h, None)
        probs = F.softmax(logits[-1, -1] / 0.8, -1)
        order = probs.sort(descending=True)
        keep = order.values.cumsum(0) - order.values < 0.9
        pick = order.indices[keep][int(rng.integers(int(keep.sum())))]
        said.append(chars[pick])
        token = pick.view(1, 1)
    full = model.adaptive.log_prob(out.view(-1, 7))
    best = model.adaptive.predict(out.view(-1, 7))
    bits = F.cross_entropy(
        model(train[:-1], model.init_hidden(4), None)[0].flatten(0, 1), train[1:].flatten()
    )
cell = model.cell
hx, cx = torch.zeros(4, 7), torch.zeros(4, 7)
for step in model.encoder(train[:3]):
    hx, cx = cell(step, (hx, cx))
v = Variable(torch.ones(2), requires_grad=True)
(v * 2).sum().backward()
OUT = dict(
    log=log,
    said="".join(said),
    full=full,
    best=best,
    bits=bits,
    hx=hx,
    v=v.grad,
    ax=[opt.state[p]["ax"] for p in model.parameters() if opt.state.get(p)],
    same=model.decoder.weight is model.encoder.weight,
    names=[n for n, _ in model.named_parameters()],
    doubled=[n for n, _ in model.named_parameters(remove_duplicate=False)],
)
