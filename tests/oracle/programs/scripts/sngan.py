import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(22)


class CondBN(nn.Module):
    def __init__(self, ch, n):
        super().__init__()
        self.bn = nn.BatchNorm2d(ch, affine=False)
        self.embed = nn.Embedding(n, ch * 2)
        self.embed.weight.data[:, :ch].fill_(1.0)
        self.embed.weight.data[:, ch:].zero_()

    def forward(self, x, y):
        gamma, beta = self.embed(y).chunk(2, 1)
        return gamma[..., None, None] * self.bn(x) + beta.unsqueeze(-1).unsqueeze(-1)


class SelfAttention(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.q, self.k, self.v = (nn.Conv2d(ch, c, 1) for c in (ch // 2, ch // 2, ch))
        self.gamma = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        b, _c, h, w = x.shape
        q = self.q(x).view(b, -1, h * w).permute(0, 2, 1)
        k = F.max_pool2d(self.k(x), 2).view(b, -1, h * w // 4)
        v = F.max_pool2d(self.v(x), [2, 2]).view(b, -1, h * w // 4)
        att = torch.softmax(torch.bmm(q, k), dim=-1)
        return x + self.gamma * torch.bmm(v, att.transpose(1, 2)).view_as(x)


class Disc(nn.Module):
    def __init__(self, ch=4, n=3):
        super().__init__()
        self.c1 = spectral_norm(nn.Conv2d(1, ch, 3, padding=1))
        self.att = SelfAttention(ch)
        self.c2 = spectral_norm(nn.Conv2d(ch, ch, 4, 2, 1), n_power_iterations=2)
        self.fc = weight_norm(nn.Linear(ch, 1))
        self.embed = spectral_norm(nn.Embedding(n, ch))

    def forward(self, x, y):
        h = F.relu(self.c2(self.att(F.leaky_relu(self.c1(x), 0.1))))
        h = torch.sum(h, dim=(2, 3))
        return self.fc(h) + torch.sum(self.embed(y) * h, dim=1, keepdim=True)


class MinMax(nn.Module):
    def forward(self, w):
        return w.clamp(-0.5, 0.5)

    def right_inverse(self, w):
        return w


D = Disc()
for name, m in D.named_modules():
    if isinstance(m, (nn.Conv2d, nn.Linear, nn.Embedding)):
        if parametrize.is_parametrized(m, "weight"):
            original = m.parametrizations.weight
            for k, p in original.named_parameters(recurse=False):
                p.data.copy_(torch.from_numpy(rng.normal(0, 0.5, p.shape)))
            for b_name, b in original.named_buffers():
                b.copy_(F.normalize(torch.from_numpy(rng.normal(size=b.shape)), dim=0))
        else:
            m.weight.data.copy_(torch.from_numpy(rng.normal(0, 0.5, m.weight.shape)))
        if getattr(m, "bias", None) is not None:
            m.bias.data.zero_()
x, y = torch.from_numpy(rng.normal(size=(4, 1, 8, 8))), torch.tensor([0, 2, 1, 1])
opt = torch.optim.Adam(D.parameters(), lr=1e-2, betas=(0.0, 0.9))
log = []
for it in range(5):
    real, fake = D(x, y), D(x.flip(0).cumsum(-1) * 0.2, y.roll(1))
    loss = F.relu(1.0 - real).mean() + F.relu(1.0 + fake).mean()
    D.zero_grad()
    loss.backward()
    opt.step()
    log.append(loss.item())
sig = torch.linalg.matrix_norm(D.c1.weight.flatten(1), ord=2)
bn = CondBN(4, 3)
aug = bn(F.dropout2d(torch.from_numpy(rng.normal(size=(4, 4, 3, 3))), 0.0), y)
lin = nn.Linear(4, 4)
lin.weight.data = torch.from_numpy(rng.normal(size=(4, 4)))
orth = orthogonal(lin, orthogonal_map="cayley")
Q = orth.weight
with parametrize.cached():
    same = orth.weight is orth.weight
l2 = nn.Linear(3, 2)
l2.weight.data = torch.from_numpy(rng.normal(size=(2, 3)))
parametrize.register_parametrization(l2, "weight", MinMax())
l2.weight = torch.ones(2, 3) * 0.3
(l2.weight.sum() * 2).backward()
keys = sorted(D.state_dict())
chain = parametrize.type_before_parametrizations(l2).__name__
parametrize.remove_parametrizations(l2, "weight", leave_parametrized=True)
# differentiable augmentation, colour and cutout, feature matching, perceptual path length
t = x.new_tensor(rng.uniform(-0.5, 0.5, (4, 1, 1, 1)))
aug2 = (x + t - x.mean((1, 2, 3), keepdim=True)) * (t + 1)
theta = torch.eye(2, 3).repeat(4, 1, 1)
theta[:, 0, 2] = 0.3
warp = F.grid_sample(
    aug2,
    F.affine_grid(theta, x.size(), align_corners=False),
    padding_mode="border",
    align_corners=False,
)
unf = F.fold(F.unfold(warp, 3, padding=1), (8, 8), 3, padding=1)
OUT = dict(
    log=log,
    sig=sig,
    aug=aug,
    orth=(Q @ Q.T - torch.eye(4)).abs().max() < 1e-9,
    same=same,
    keys=keys,
    chain=chain,
    l2=l2.weight,
    warp=warp,
    unf=unf,
    emb=D.embed(y),
)
