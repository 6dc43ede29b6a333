import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import einsum, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(4)


class SinusoidalPosEmb(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        emb = torch.exp(torch.arange(half, device=t.device) * -(math.log(10000) / (half - 1)))
        emb = t[:, None] * emb[None, :]
        return torch.cat((emb.sin(), emb.cos()), dim=-1)


class WeightStandardizedConv2d(nn.Conv2d):
    def forward(self, x):
        w = self.weight
        mean = w.mean(dim=(1, 2, 3), keepdim=True)
        var = torch.var(w, dim=(1, 2, 3), unbiased=False, keepdim=True)
        return F.conv2d(
            x,
            (w - mean) * (var + 1e-5).rsqrt(),
            self.bias,
            self.stride,
            self.padding,
            self.dilation,
            self.groups,
        )


class Block(nn.Module):
    def __init__(self, i, o, td):
        super().__init__()
        self.c = WeightStandardizedConv2d(i, o, 3, padding=1)
        self.n = nn.GroupNorm(2, o)
        self.a = nn.SiLU()
        self.mlp = nn.Sequential(nn.SiLU(), nn.Linear(td, o * 2))
        self.res = nn.Conv2d(i, o, 1) if i != o else nn.Identity()

    def forward(self, x, t):
        s, b = self.mlp(t)[..., None, None].chunk(2, dim=1)
        return self.a(self.n(self.c(x)) * (s + 1) + b) + self.res(x)


class LinearAttention(nn.Module):
    def __init__(self, dim, heads=2, dh=4):
        super().__init__()
        self.heads, self.scale = heads, dh**-0.5
        self.qkv = nn.Conv2d(dim, heads * dh * 3, 1, bias=False)
        self.out = nn.Conv2d(heads * dh, dim, 1)

    def forward(self, x):
        b, _c, h, w = x.shape
        q, k, v = (t.reshape(b, self.heads, -1, h * w) for t in self.qkv(x).chunk(3, dim=1))
        q = q.softmax(dim=-2) * self.scale
        k = k.softmax(dim=-1)
        ctx = einsum("b h d n, b h e n -> b h d e", k, v / (h * w))
        return self.out(einsum("b h d e, b h d n -> b h e n", ctx, q).reshape(b, -1, h, w)) + x


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = nn.Sequential(SinusoidalPosEmb(8), nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8))
        self.init = nn.Conv2d(1, 4, 7, padding=3)
        self.d1, self.at, self.down = Block(4, 4, 8), LinearAttention(4), nn.Conv2d(4, 8, 4, 2, 1)
        self.mid = Block(8, 8, 8)
        self.up = nn.Sequential(
            nn.Upsample(scale_factor=2, mode="nearest"), nn.Conv2d(8, 4, 3, padding=1)
        )
        self.d2, self.final = Block(8, 4, 8), nn.Conv2d(4, 1, 1)

    def forward(self, x, t):
        t = self.t(t)
        x = self.init(x)
        r = self.at(self.d1(x, t))
        x = self.mid(self.down(r), t)
        return self.final(self.d2(torch.cat((self.up(x), r), dim=1), t))


def cosine_beta_schedule(timesteps, s=0.008):
    t = torch.linspace(0, timesteps, timesteps + 1) / timesteps
    ac = torch.cos((t + s) / (1 + s) * math.pi * 0.5) ** 2
    ac = ac / ac[0]
    return torch.clip(1 - (ac[1:] / ac[:-1]), 0, 0.999)


def extract(a, t, x_shape):
    return a.gather(-1, t).reshape(t.shape[0], *((1,) * (len(x_shape) - 1)))


class Diffusion(nn.Module):
    def __init__(self, model, T=20):
        super().__init__()
        self.model, self.T = model, T

        def reg(n, v):
            return self.register_buffer(n, v.to(torch.float64))

        betas = cosine_beta_schedule(T)
        ac = torch.cumprod(1 - betas, 0)
        prev = F.pad(ac[:-1], (1, 0), value=1.0)
        for n, v in dict(
            betas=betas, ac=ac, sq=ac.sqrt(), sm=(1 - ac).sqrt(), post=betas * (1 - prev) / (1 - ac)
        ).items():
            reg(n, v)

    def loss(self, x, t, noise):
        xt = extract(self.sq, t, x.shape) * x + extract(self.sm, t, x.shape) * noise
        snr = self.ac / (1 - self.ac)
        w = extract(snr.clone().clamp_(max=5) / snr, t, (len(t),))
        l = F.mse_loss(self.model(xt, t.double()), noise, reduction="none").flatten(1).mean(1)
        return (l * w).mean()

    @torch.inference_mode()
    def sample(self, x):
        for i in reversed(range(0, self.T, 5)):
            t = torch.full((len(x),), i, dtype=torch.long)
            e = self.model(x, t.double())
            x0 = ((x - extract(self.sm, t, x.shape) * e) / extract(self.sq, t, x.shape)).clamp_(
                -1.0, 1.0
            )
            x = (
                extract(self.sq, t, x.shape) * x0
                + extract(self.post.clamp(min=1e-20).log(), t, x.shape).mul(0.5).exp() * 0.1
            )
        return x


d = Diffusion(Unet())
with torch.no_grad():
    for p in d.parameters():
        p.copy_(torch.from_numpy(rng.normal(0, 0.15, tuple(p.shape))))
ema = AveragedModel(d, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
opt = torch.optim.Adam(d.parameters(), lr=2e-3, betas=(0.9, 0.99))
ls = []
for _ in range(4):
    x = torch.from_numpy(rng.uniform(-1, 1, (3, 1, 8, 8)))
    t = torch.from_numpy(rng.integers(0, 20, 3))
    l = d.loss(x, t, torch.from_numpy(rng.normal(size=x.shape)))
    opt.zero_grad()
    l.backward()
    opt.step()
    ema.update_parameters(d)
    ls.append(l.item())
s = ema.module.sample(torch.from_numpy(rng.normal(size=(2, 1, 8, 8))))
OUT = {
    "losses": ls,
    "sample": s.clone(),
    "inf": str(s.is_inference()),
    "n": ema.n_averaged,
    "keys": list(ema.state_dict())[:5],
}
