import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(4)
V, E, H = 12, 6, 10


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(V, E, padding_idx=0)
        self.gru = nn.GRU(E, H, bidirectional=True)
        self.fc = nn.Linear(2 * H, H)

    def forward(self, src, lens):
        packed = pack_padded_sequence(self.embedding(src), lens, enforce_sorted=False)
        out, h = self.gru(packed)
        out, _ = pad_packed_sequence(out)
        return out, torch.tanh(self.fc(torch.cat([h[-2], h[-1]], dim=1)))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.Linear(3 * H, H)
        self.v = nn.Parameter(torch.zeros(H))

    def forward(self, hidden, enc, mask):
        T = enc.shape[0]
        h = hidden.unsqueeze(1).repeat(1, T, 1)
        e = torch.tanh(self.attn(torch.cat((h, enc.permute(1, 0, 2)), 2)))
        s = torch.bmm(self.v.repeat(e.size(0), 1).unsqueeze(1), e.permute(0, 2, 1)).squeeze(1)
        return F.softmax(s.masked_fill(mask == 0, -1e10), dim=1)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(V, E)
        self.attention = Attention()
        self.cell = nn.GRUCell(E + 2 * H, H)
        self.out = nn.Linear(H + 2 * H + E, V)

    def forward(self, tok, hidden, enc, mask):
        emb = self.embedding(tok)
        a = self.attention(hidden, enc, mask)
        ctx = torch.einsum("bt,tbh->bh", a, enc)
        hidden = self.cell(torch.cat([emb, ctx], -1), hidden)
        return self.out(torch.cat((hidden, ctx, emb), dim=1)), hidden, a


enc, dec = Encoder(), Decoder()
params = list(enc.parameters()) + list(dec.parameters())
for p in params:
    with torch.no_grad():
        p.copy_(torch.from_numpy(rng.normal(size=tuple(p.shape)) * 0.2))
seqs = [torch.tensor(rng.integers(2, V, n)) for n in (5, 3, 7, 4)]
src = pad_sequence(seqs)
lens = torch.tensor([len(s) for s in seqs])
tgt = pad_sequence([s.flip(0) for s in seqs], padding_value=0)
opt = torch.optim.Adamax(params, lr=0.02)
mask = (src != 0).t()
losses = []
for step in range(8):
    out, hidden = enc(src, lens)
    tok = torch.ones(4, dtype=torch.long)
    loss = 0
    for t in range(tgt.size(0)):
        logit, hidden, a = dec(tok, hidden, out, mask)
        loss = loss + F.cross_entropy(logit, tgt[t], ignore_index=0, reduction="sum")
        tok = tgt[t] if rng.random() < 0.5 else logit.argmax(1)
    loss = loss / (tgt != 0).sum()
    opt.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
    losses.append(loss.item())
OUT = dict(l=losses, a=a, norm=norm, pad=enc.embedding.weight.grad[0])
