import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import (
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
)

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(6)


class CRF(nn.Module):
    def __init__(self, num_tags, batch_first=False):
        super().__init__()
        self.num_tags, self.batch_first = num_tags, batch_first
        self.start_transitions = nn.Parameter(torch.empty(num_tags))
        self.end_transitions = nn.Parameter(torch.empty(num_tags))
        self.transitions = nn.Parameter(torch.empty(num_tags, num_tags))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.uniform_(self.start_transitions, -0.1, 0.1)
        nn.init.uniform_(self.end_transitions, -0.1, 0.1)
        nn.init.uniform_(self.transitions, -0.1, 0.1)

    def __repr__(self):
        return f"{self.__class__.__name__}(num_tags={self.num_tags})"

    def forward(self, emissions, tags, mask, reduction="sum"):
        if self.batch_first:
            emissions, tags, mask = (
                emissions.transpose(0, 1),
                tags.transpose(0, 1),
                mask.transpose(0, 1),
            )
        llh = self._score(emissions, tags, mask) - self._norm(emissions, mask)
        return {"none": llh, "sum": llh.sum(), "token_mean": llh.sum() / mask.float().sum()}[
            reduction
        ]

    def _score(self, emissions, tags, mask):
        seq_length, batch_size = tags.shape
        mask = mask.float()
        score = self.start_transitions[tags[0]]
        score += emissions[0, torch.arange(batch_size), tags[0]]
        for i in range(1, seq_length):
            score += self.transitions[tags[i - 1], tags[i]] * mask[i]
            score += emissions[i, torch.arange(batch_size), tags[i]] * mask[i]
        ends = mask.long().sum(dim=0) - 1
        score += self.end_transitions[tags[ends, torch.arange(batch_size)]]
        return score

    def _norm(self, emissions, mask):
        score = self.start_transitions + emissions[0]
        for i in range(1, emissions.size(0)):
            nxt = torch.logsumexp(
                score.unsqueeze(2) + self.transitions + emissions[i].unsqueeze(1), dim=1
            )
            score = torch.where(mask[i].unsqueeze(1), nxt, score)
        return torch.logsumexp(score + self.end_transitions, dim=1)

    def decode(self, emissions, mask):
        score = self.start_transitions + emissions[0]
        history = []
        for i in range(1, emissions.size(0)):
            nxt, idx = (score.unsqueeze(2) + self.transitions + emissions[i].unsqueeze(1)).max(
                dim=1
            )
            score = torch.where(mask[i].unsqueeze(1), nxt, score)
            history.append(idx)
        score += self.end_transitions
        out = []
        for b, end in enumerate(mask.long().sum(dim=0) - 1):
            _, best = score[b].max(dim=0)
            tags = [best.item()]
            for hist in reversed(history[:end]):
                best = hist[b][tags[-1]]
                tags.append(best.item())
            out.append(tags[::-1])
        return out


class Tagger(nn.Module):
    def __init__(self, V=20, E=6, H=8, K=4):
        super().__init__()
        self.emb = nn.Embedding(V, E, padding_idx=0)
        self.lstm = nn.LSTM(E, H // 2, num_layers=2, bidirectional=True, batch_first=True)
        self.drop = nn.Dropout(0.0)
        self.out = nn.Linear(H, K)
        self.crf = CRF(K, batch_first=False)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.emb(x), lengths, batch_first=True, enforce_sorted=False)
        h, (hn, cn) = self.lstm(packed)
        h, _ = pad_packed_sequence(h, batch_first=True)
        return self.out(self.drop(h)).transpose(0, 1), hn, cn


m = Tagger()
with torch.no_grad():
    for n, p in m.named_parameters():
        p.copy_(torch.from_numpy(rng.normal(0, 0.3, tuple(p.shape))))
    m.emb.weight[m.emb.padding_idx].fill_(0)
seqs = [torch.from_numpy(rng.integers(1, 20, n)) for n in (5, 7, 3, 1)]
tags = [torch.from_numpy(rng.integers(0, 4, len(s))) for s in seqs]
x = pad_sequence(seqs, batch_first=True)
lengths = torch.tensor([len(s) for s in seqs])
t = pad_sequence(tags)
mask = (x != 0).t()
opt = torch.optim.SGD(m.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)
ls = []
for _ in range(6):
    m.zero_grad()
    em, hn, cn = m(x, lengths)
    loss = -m.crf(em, t, mask, reduction="token_mean")
    loss.backward()
    opt.step()
    ls.append(loss.item())
with torch.no_grad():
    em, hn, cn = m(x, lengths)
    dec = m.crf.decode(em, mask)
OUT = {
    "ls": ls,
    "dec": dec,
    "hn": hn,
    "grad0": m.emb.weight.grad[0],
    "repr": repr(m),
    "ps": pack_sequence(seqs, enforce_sorted=False).batch_sizes,
}
