"""Translation: packed encoder, additive attention, teacher forcing, beam search."""

import math

import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.nn.utils import clip_grad_value_
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence, pad_sequence, unpad_sequence

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(32)
PAD, BOS, EOS, VOCAB = 0, 1, 2, 11


class Encoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, size, padding_idx=PAD)
        self.rnn = nn.LSTM(size, size, bidirectional=True, proj_size=size // 2)
        self.bridge = nn.Linear(2 * size, size)

    def forward(self, sentences):
        embedded = [self.embed(s) for s in sentences]
        out, (h, c) = self.rnn(pack_sequence(embedded, enforce_sorted=False))
        out, lengths = pad_packed_sequence(out)
        mask = torch.arange(len(out))[:, None] < lengths[None, :]
        state = torch.tanh(self.bridge(c.transpose(0, 1).flatten(1)))
        return out, mask, state, h


class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.query = nn.Linear(size, size, bias=False)
        self.key = nn.Linear(size, size, bias=False)
        self.v = nn.Parameter(torch.empty(size))

    def forward(self, state, memory, mask):
        scores = torch.tanh(self.query(state) + self.key(memory)) @ self.v
        weights = scores.masked_fill(~mask, -math.inf).softmax(0)
        return torch.einsum("sb,sbd->bd", weights, memory), weights


class Decoder(nn.Module):
    def __init__(self, size, embed):
        super().__init__()
        self.embed = embed
        self.cell = nn.GRUCell(2 * size, size)
        self.attend = Attention(size)
        self.out = nn.Linear(2 * size, VOCAB)

    def forward(self, token, state, memory, mask):
        context, weights = self.attend(state, memory, mask)
        state = self.cell(torch.cat([self.embed(token), context], -1), state)
        return self.out(torch.cat([state, context], -1)), state, weights


size = 6
encoder = Encoder(size)
decoder = Decoder(size, encoder.embed)
model = nn.ModuleDict({"encoder": encoder, "decoder": decoder})
with torch.no_grad():
    for name, p in model.named_parameters():
        p.copy_(torch.from_numpy(rng.normal(0, 0.4, tuple(p.shape))))
    encoder.embed.weight[PAD].zero_()
source = [torch.from_numpy(rng.integers(3, VOCAB, n)) for n in (3, 5, 2, 4)]
target = [torch.cat([torch.tensor([BOS]), s.flip(0), torch.tensor([EOS])]) for s in source]
gold = pad_sequence(target, padding_value=PAD)
opt = optim.RAdam(
    [
        {"params": encoder.parameters()},
        {"params": [p for n, p in decoder.named_parameters() if "embed" not in n], "lr": 0.02},
    ],
    lr=0.01,
)
plateau = optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=0, threshold=0.05)
coins = rng.random((6, len(gold)))
log = []
for epoch in range(6):
    memory, mask, state, _ = encoder(source)
    token, losses, maps = gold[0], [], []
    for t in range(1, len(gold)):
        logits, state, weights = decoder(token, state, memory, mask)
        losses.append(
            F.cross_entropy(logits, gold[t], ignore_index=PAD, label_smoothing=0.1, reduction="sum")
        )
        maps.append(weights)
        token = gold[t] if coins[epoch, t] < 0.6 else logits.argmax(-1)
    coverage = torch.stack(maps).sum(0).clamp(max=1).sub(1).square()[mask].mean()
    loss = torch.stack(losses).sum() / (gold[1:] != PAD).sum() + 0.1 * coverage
    opt.zero_grad()
    loss.backward()
    clip_grad_value_(model.parameters(), 0.05)
    opt.step()
    plateau.step(loss)
    log.append([loss.item(), opt.param_groups[0]["lr"], opt.param_groups[1]["lr"]])


@torch.no_grad()
def beam(sentence, width=3, limit=7):
    memory, mask, state, _ = encoder([sentence])
    beams = [(0.0, [BOS], state)]
    for _ in range(limit):
        grown = []
        for score, tokens, state in beams:
            if tokens[-1] == EOS:
                grown.append((score, tokens, state))
                continue
            logits, new, _ = decoder(torch.tensor(tokens[-1:]), state, memory, mask)
            best = logits.log_softmax(-1).topk(width)
            for value, index in zip(best.values[0].tolist(), best.indices[0].tolist()):
                grown.append((score + value, [*tokens, index], new))
        beams = sorted(grown, key=lambda item: -item[0] / len(item[1]))[:width]
    return [(score, tokens) for score, tokens, _ in beams]


memory, mask, state, h = encoder(source)
OUT = dict(
    log=log,
    beams=[beam(s) for s in source],
    unpadded=list(unpad_sequence(memory, mask.sum(0))),
    h=h,
    pad=encoder.embed.weight.grad[PAD],
    grads={n: p.grad for n, p in model.named_parameters()},
)
