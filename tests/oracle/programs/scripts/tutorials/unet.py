"""A small U-Net: transposed convolutions, Dice and focal losses, running augmentation."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.checkpoint as ckpt

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(33)


class Double(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(
            nn.Conv2d(cin, cout, 3, padding=1, bias=False, padding_mode="reflect"),
            nn.GroupNorm(2, cout),
            nn.SiLU(inplace=True),
            nn.Conv2d(cout, cout, 3, padding="same", groups=2),
            nn.InstanceNorm2d(cout, affine=True, track_running_stats=True),
            nn.LeakyReLU(0.1),
        )


class SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.fc = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, 2, 1),
            nn.ReLU(),
            nn.Conv2d(2, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x):
        return x * self.fc(x)


class UNet(nn.Module):
    def __init__(self, widths=(4, 6, 8)):
        super().__init__()
        self.down = nn.ModuleList()
        self.up = nn.ModuleList()
        self.merge = nn.ModuleList()
        cin = 2
        for w in widths:
            self.down.append(Double(cin, w))
            cin = w
        for i, w in enumerate(reversed(widths[:-1])):
            if i == 0:
                self.up.append(nn.ConvTranspose2d(cin, w, 2, stride=2))
            else:
                self.up.append(
                    nn.Sequential(
                        nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
                        nn.ConvTranspose2d(cin, w, 3, padding=1, dilation=1, groups=2),
                    )
                )
            self.merge.append(Double(2 * w, w))
            cin = w
        self.se = SqueezeExcite(cin)
        self.head = nn.Conv2d(cin, 3, 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = ckpt.checkpoint(block, x, use_reentrant=False) if i == 1 else block(x)
            if i + 1 < len(self.down):
                skips.append(x)
                x = F.max_pool2d(x, 2)
        for up, merge in zip(self.up, self.merge):
            x = up(x)
            skip = skips.pop()
            x = F.pad(x, (0, skip.shape[-1] - x.shape[-1], 0, skip.shape[-2] - x.shape[-2]))
            x = merge(torch.cat((skip, x), dim=1))
        return self.head(self.se(x))


def dice(logits, labels, eps=1.0):
    probs = logits.softmax(1)
    one_hot = F.one_hot(labels, 3).permute(0, 3, 1, 2).to(probs)
    overlap = (probs * one_hot).sum((0, 2, 3))
    return 1 - ((2 * overlap + eps) / (probs + one_hot).sum((0, 2, 3)).add(eps)).mean()


def focal(logits, labels, gamma=2.0):
    ce = F.cross_entropy(logits, labels, reduction="none", weight=torch.tensor([0.5, 1.0, 2.0]))
    pt = logits.log_softmax(1).gather(1, labels[:, None]).squeeze(1).exp()
    return ((1 - pt) ** gamma * ce).mean()


net = UNet()
for p in net.parameters():
    p.data = torch.from_numpy(rng.normal(0, 0.35, tuple(p.shape)))
x = torch.from_numpy(rng.normal(size=(2, 2, 9, 11)))
y = torch.from_numpy(rng.integers(0, 3, (2, 9, 11)))
decay, plain = [], []
for name, p in net.named_parameters():
    (plain if p.ndim == 1 else decay).append(p)
opt = torch.optim.NAdam(
    [{"params": decay, "weight_decay": 0.01}, {"params": plain}],
    lr=0.01,
    decoupled_weight_decay=True,
)
poly = torch.optim.lr_scheduler.PolynomialLR(opt, total_iters=4, power=0.9)
log = []
for it in range(4):
    flipped = it % 2
    image, labels = (x.flip(-1), y.flip(-1)) if flipped else (x, y)
    theta = torch.tensor([[[0.98, 0.05 * it, 0.01], [-0.05 * it, 1.02, 0.0]]]).expand(2, -1, -1)
    grid = F.affine_grid(theta, list(image.shape), align_corners=False)
    image = F.grid_sample(image, grid, padding_mode="border", align_corners=False)
    logits = net(image)
    loss = dice(logits, labels) + focal(logits, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    poly.step()
    log.append([loss.item(), poly.get_last_lr()[0]])
net.eval()
with torch.no_grad():
    logits = net(x)
    pred = logits.argmax(1)
    matrix = torch.bincount((y * 3 + pred).flatten(), minlength=9).reshape(3, 3).double()
    iou = matrix.diag() / (matrix.sum(0) + matrix.sum(1) - matrix.diag()).clamp(min=1)
    edges = F.unfold(pred[:, None].double(), 3, padding=1).std(1)
    back = F.fold(F.unfold(x, 3, stride=3), (9, 11), 3, stride=3)
OUT = dict(
    log=log,
    logits=logits,
    iou=iou,
    matrix=matrix,
    edges=edges,
    back=back,
    buffers=dict(net.named_buffers()),
    grads=[p.grad for p in net.parameters()],
)
