"""A recurrent network read by CTC: log-mel features, packed batches, greedy decoding."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(31)
BLANK, CLASSES, BINS = 0, 6, 9


class Tones(Dataset):
    def __init__(self, count):
        self.items = []
        for _ in range(count):
            label = rng.integers(1, CLASSES, rng.integers(2, 5))
            wave = np.concatenate([np.sin(np.arange(40) * 0.25 * c) for c in label])
            wave = wave + rng.normal(0, 0.1, wave.shape)
            self.items.append((torch.from_numpy(wave), torch.from_numpy(label)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        wave, label = self.items[index]
        window = torch.hann_window(16, dtype=wave.dtype)
        spec = torch.stft(wave, 16, 8, window=window, return_complex=True)
        return torch.log1p(spec.abs().pow(2)).T, label


def collate(batch):
    batch = sorted(batch, key=lambda item: -len(item[0]))
    features, labels = zip(*batch)
    lengths = torch.tensor([len(f) for f in features])
    targets = torch.tensor([len(t) for t in labels])
    return pad_sequence(features, batch_first=True), lengths, torch.cat(labels), targets


class Acoustic(nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        self.norm = nn.BatchNorm1d(BINS)
        self.conv = nn.Conv1d(BINS, hidden, 3, padding=1)
        self.rnn = nn.GRU(hidden, hidden, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, CLASSES)

    def forward(self, x, lengths):
        x = F.gelu(self.conv(self.norm(x.transpose(1, 2)))).transpose(1, 2)
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True)
        out, _ = self.rnn(packed)
        out, lengths = pad_packed_sequence(out, batch_first=True, padding_value=-1.0)
        return self.head(out).log_softmax(-1), lengths


def greedy(log_probs, lengths):
    found = []
    for scores, length in zip(log_probs, lengths):
        best = torch.unique_consecutive(scores[:length].argmax(-1))
        found.append([int(c) for c in best if c != BLANK])
    return found


model = Acoustic()
for p in model.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.3, p.shape)))
opt = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.02)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=3, T_mult=2)
ctc = nn.CTCLoss(blank=BLANK, zero_infinity=True)
data = Tones(8)
loader = DataLoader(data, batch_size=4, collate_fn=collate)
log = []
for epoch in range(3):
    for step, (x, lengths, labels, targets) in enumerate(loader):
        log_probs, out_lengths = model(x, lengths)
        loss = ctc(log_probs.transpose(0, 1), labels, out_lengths, targets)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        norm = clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step(epoch + step / len(loader))
        log.append([loss.item(), norm.item(), sched.get_last_lr()[0]])
model.eval()
with torch.inference_mode():
    x, lengths, labels, targets = next(iter(loader))
    log_probs, out_lengths = model(x, lengths)
    each = F.ctc_loss(
        log_probs.transpose(0, 1),
        torch.stack([F.pad(p, (0, 4 - len(p))) for p in labels.split(targets.tolist())]),
        out_lengths,
        targets,
        reduction="none",
    )
OUT = dict(
    log=log,
    text=greedy(log_probs, out_lengths),
    each=each.clone(),
    lengths=out_lengths,
    running=[model.norm.running_mean, model.norm.running_var, model.norm.num_batches_tracked],
    grads=[p.grad for p in model.parameters()],
)
