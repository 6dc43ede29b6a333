import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(37)


class STFTLoss(nn.Module):
    def __init__(self, n_fft, hop, win):
        super().__init__()
        self.n_fft, self.hop, self.win = n_fft, hop, win
        self.register_buffer("window", torch.hann_window(win))

    def mag(self, x):
        s = torch.stft(x, self.n_fft, self.hop, self.win, self.window, return_complex=True)
        return torch.sqrt(torch.clamp(s.real**2 + s.imag**2, min=1e-7)).transpose(2, 1)

    def forward(self, x, y):
        mx, my = self.mag(x), self.mag(y)
        sc = torch.norm(my - mx, p="fro") / torch.norm(my, p="fro")
        return sc, F.l1_loss(torch.log(mx), torch.log(my))


class Gen(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose1d(4, 4, 8, stride=4, padding=2)
        self.dil = nn.ModuleList([nn.Conv1d(4, 8, 3, padding=d, dilation=d) for d in (1, 2, 4)])
        self.out = nn.Conv1d(4, 1, 7, padding=3, padding_mode="replicate")

    def forward(self, z):
        h = self.up(z)
        for c in self.dil:
            h = h + F.glu(c(h), dim=1)
        return torch.tanh(self.out(h)).squeeze(1)


gen = Gen()
for p in gen.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.25, p.shape)))
z = torch.from_numpy(rng.normal(size=(2, 4, 64)))
tt = torch.arange(256) / 256
y = torch.sin(2 * np.pi * 20 * tt).repeat(2, 1) * torch.tensor([[1.0], [0.5]])
crit = [STFTLoss(*c) for c in ((64, 16, 64), (32, 8, 24))]
opt = torch.optim.Adam(gen.parameters(), lr=1e-2)
ls = []
for _ in range(6):
    x = gen(z)
    loss = sum(sum(c(x, y)) for c in crit)
    opt.zero_grad()
    loss.backward()
    opt.step()
    ls.append(loss.item())
S = torch.stft(y, 64, hop_length=16, window=torch.hann_window(64), center=True, return_complex=True)
back = torch.istft(S * 1.0, 64, hop_length=16, window=torch.hann_window(64), length=256)
mel = torch.clamp(torch.rand(5, 33) * 0 + torch.linspace(0, 1, 33), min=0.1)
logmel = torch.log10(torch.matmul(mel, S.abs().pow(2)).clamp_min(1e-10))
ph = torch.angle(S[:, 5]).diff(dim=-1)
conv = torch.fft.irfft(
    torch.fft.rfft(y, n=512) * torch.fft.rfft(torch.exp(-tt * 20), n=512), n=512
)[:, :256]
OUT = dict(
    l=ls,
    rec=(back - y).abs().max() < 1e-9,
    lm=logmel,
    ph=torch.cos(ph),
    conv=conv,
    fr=y.unfold(1, 32, 16).std(-1),
    pw=torch.polar(torch.tensor(2.0), torch.tensor(0.5)),
    spec=torch.view_as_real(S)[0, 3, 4],
)
