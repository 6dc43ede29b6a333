import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(6)


class PatchEmbed(nn.Module):
    def __init__(self, size=16, patch=4, cin=3, dim=24):
        super().__init__()
        self.proj = nn.Conv2d(cin, dim, kernel_size=patch, stride=patch)
        self.n = (size // patch) ** 2

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class ViT(nn.Module):
    def __init__(self, dim=24, depth=2, heads=4, classes=4):
        super().__init__()
        self.patch = PatchEmbed(dim=dim)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.empty(1, self.patch.n + 1, dim))
        layer = nn.TransformerEncoderLayer(
            dim, heads, 48, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(
            layer, depth, norm=nn.LayerNorm(dim), enable_nested_tensor=False
        )
        self.mha = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, classes))

    def forward(self, x):
        x = self.patch(x)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.pos
        x = self.encoder(x)
        pooled, w = self.mha(x[:, :1], x, x, need_weights=True, average_attn_weights=False)
        return self.head(pooled[:, 0]), w


model = ViT().double()
with torch.no_grad():
    for p in model.parameters():
        p.copy_(torch.from_numpy(rng.normal(size=p.shape) * 0.15))
x = torch.from_numpy(rng.normal(size=(5, 3, 16, 16)))
y = torch.from_numpy(rng.integers(0, 4, 5))
lam = 0.3
perm = torch.from_numpy(rng.permutation(5))
opt = torch.optim.NAdam(model.parameters(), lr=2e-3)
ls = []
for step in range(5):
    mixed = lam * x + (1 - lam) * x[perm]
    out, w = model(mixed)
    loss = lam * nn.functional.cross_entropy(out, y) + (1 - lam) * nn.functional.cross_entropy(
        out, y[perm]
    )
    opt.zero_grad()
    loss.backward()
    opt.step()
    ls.append(loss.item())
model.eval()
with torch.no_grad():
    out, w = model(x)
patches = nn.functional.unfold(x, 4, stride=4)
back = nn.functional.fold(patches, (16, 16), 4, stride=4)
OUT = dict(l=ls, out=out, w=w, back=(back - x).abs().max(), shape=list(w.shape))
