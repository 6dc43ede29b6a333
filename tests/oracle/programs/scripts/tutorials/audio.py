"""Spectral losses at several resolutions, differentiable filters, and Griffin and Lim's phases."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(38)
RATE, N = 800, 512


class STFTLoss(nn.Module):
    def __init__(self, n_fft, hop, window):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", window)

    def mag(self, x):
        s = torch.stft(
            x,
            self.n_fft,
            self.hop,
            self.n_fft,
            self.window,
            center=True,
            pad_mode="reflect",
            normalized=False,
            onesided=True,
            return_complex=True,
        )
        return torch.sqrt(torch.clamp(s.real**2 + s.imag**2, min=1e-7))

    def forward(self, x, y):
        a, b = self.mag(x), self.mag(y)
        sc = torch.linalg.matrix_norm(b - a, ord="fro") / torch.linalg.matrix_norm(b, ord="fro")
        return sc.mean(), F.l1_loss(torch.log(a), torch.log(b))


class Synth(nn.Module):
    def __init__(self):
        super().__init__()
        self.freq = nn.Parameter(torch.tensor([50.0, 101.0, 149.0]))
        self.amp = nn.Parameter(torch.tensor([0.5, 0.4, 0.3]))
        self.decay = nn.Parameter(torch.tensor(-1.0))
        self.fir = nn.Parameter(torch.from_numpy(rng.normal(0, 0.1, 9)))

    def forward(self, t):
        phase = 2 * torch.pi * torch.cumsum(self.freq[:, None].expand(-1, len(t)) / RATE, -1)
        dry = (self.amp.sigmoid()[:, None] * torch.sin(phase)).sum(0)
        dry = dry * torch.exp(-F.softplus(self.decay) * t)
        size = 2 * len(t)
        wet = torch.fft.irfft(torch.fft.rfft(dry, size) * torch.fft.rfft(self.fir, size), size)
        return dry + wet[: len(t)]


t = torch.arange(N) / RATE
clean = torch.sin(2 * torch.pi * 52 * t) + 0.4 * torch.sin(2 * torch.pi * 104 * t)
clean = clean * torch.exp(-1.2 * t) + torch.from_numpy(rng.normal(0, 0.01, N))
losses = nn.ModuleList(
    STFTLoss(n, h, w(n))
    for n, h, w in (
        (32, 8, torch.hann_window),
        (64, 16, torch.hamming_window),
        (128, 32, torch.blackman_window),
    )
)
synth = Synth()
opt = torch.optim.Adam(
    [{"params": [synth.freq], "lr": 0.5}, {"params": [synth.amp, synth.decay, synth.fir]}],
    lr=0.05,
    amsgrad=True,
)
cyc = torch.optim.lr_scheduler.CyclicLR(
    opt, [0.1, 0.01], [0.5, 0.05], step_size_up=2, mode="triangular2", cycle_momentum=False
)
log = []
for it in range(6):
    y = synth(t)
    pairs = [loss(y[None], clean[None]) for loss in losses]
    total = sum(a + b for a, b in pairs) / 3 + 0.1 * F.smooth_l1_loss(y, clean, beta=0.3)
    opt.zero_grad()
    total.backward()
    opt.step()
    cyc.step()
    log.append([total.item(), *cyc.get_last_lr(), synth.freq.grad.norm().item()])

window = torch.hann_window(64)
spec = torch.stft(clean, 64, 16, window=window, return_complex=True)
mag, angles = (
    spec.abs(),
    torch.polar(
        torch.ones_like(spec.abs()), torch.from_numpy(rng.uniform(-3, 3, tuple(spec.shape)))
    ),
)
previous = torch.zeros_like(angles)
for _ in range(5):
    wave = torch.istft(mag * angles, 64, 16, window=window, length=N)
    rebuilt = torch.stft(wave, 64, 16, window=window, return_complex=True)
    angles = rebuilt - previous * (0.9 / 1.9)
    angles = angles / (angles.abs() + 1e-12)
    previous = rebuilt
x = clean.clone().requires_grad_()
s = torch.stft(x, 64, 16, window=window, return_complex=True)
mask = torch.sigmoid(torch.from_numpy(rng.normal(size=tuple(s.shape))))
out = torch.istft(torch.complex(s.real * mask, s.imag), 64, 16, window=window, length=N)
ratio = 10 * torch.log10(clean.square().sum() / (out - clean).square().sum())
ratio.backward()
mel = torch.clamp(1 - (torch.linspace(0, 1, 33)[:, None] * 8 - torch.arange(8) - 0.5).abs(), min=0)
ceps = torch.fft.rfft(torch.log(mag.square().T @ mel + 1e-6), dim=-1).real
env = torch.fft.ifft(
    torch.fft.fft(clean)
    * torch.cat([torch.ones(1), 2 * torch.ones(N // 2 - 1), torch.ones(1), torch.zeros(N // 2 - 1)])
).abs()
resampled = F.interpolate(clean[None, None], scale_factor=0.5, mode="linear", align_corners=False)
frames = clean.unfold(0, 64, 32) * window
corr = F.conv1d(frames[:, None], frames.flip(-1)[:1, None], padding=63)
OUT = dict(
    log=log,
    fir=synth.fir.grad,
    wave=wave,
    gx=x.grad,
    ratio=ratio,
    ceps=ceps,
    env=env,
    shift=torch.fft.fftshift(torch.fft.fftfreq(8)),
    resampled=resampled,
    corr=corr.amax(-1),
    kaiser=torch.kaiser_window(9, False, 5.0),
    cum=torch.cumulative_trapezoid(clean, t)[-1],
)
