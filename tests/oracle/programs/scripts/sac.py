import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributions import Independent, Normal, TransformedDistribution
from torch.distributions.transforms import AffineTransform, TanhTransform

rng = np.random.default_rng(1)
LOG_STD_MIN, LOG_STD_MAX = -5, 2
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def mlp(sizes, act=nn.ReLU, out=nn.Identity):
    layers = []
    for j in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[j], sizes[j + 1]), (act if j < len(sizes) - 2 else out)()]
    return nn.Sequential(*layers)


class Actor(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.net = mlp([obs, 32, 32], out=nn.ReLU)
        self.mu, self.log_std = nn.Linear(32, act), nn.Linear(32, act)
        self.register_buffer("scale", torch.tensor(2.0, dtype=torch.float32))

    def forward(self, obs: Tensor, eps: Tensor | None = None) -> tuple[Tensor, Tensor]:
        h = self.net(obs)
        mu = self.mu(h)
        std = torch.clamp(self.log_std(h), LOG_STD_MIN, LOG_STD_MAX).exp()
        pi = Normal(mu, std)
        u = mu if eps is None else mu + std * eps
        logp = pi.log_prob(u).sum(axis=-1)
        logp -= (2 * (np.log(2) - u - F.softplus(-2 * u))).sum(axis=1)
        return self.scale * torch.tanh(u), logp


class Critic(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.q1, self.q2 = mlp([obs + act, 32, 32, 1]), mlp([obs + act, 32, 32, 1])

    def forward(self, o, a):
        x = torch.cat([o, a], dim=-1)
        return self.q1(x).squeeze(-1), self.q2(x).squeeze(-1)


class ReplayBuffer:
    def __init__(self, n, obs, act):
        self.o, self.o2 = np.zeros((n, obs), np.float32), np.zeros((n, obs), np.float32)
        self.a, self.r, self.d = (
            np.zeros((n, act), np.float32),
            np.zeros(n, np.float32),
            np.zeros(n, np.float32),
        )

    def sample(self, k):
        i = rng.integers(0, len(self.r), k)
        batch = dict(o=self.o[i], o2=self.o2[i], a=self.a[i], r=self.r[i], d=self.d[i])
        return {k: torch.as_tensor(v, dtype=torch.float32).to(device) for k, v in batch.items()}


buf = ReplayBuffer(200, 4, 2)
buf.o[:] = rng.normal(size=buf.o.shape)
buf.a[:] = rng.uniform(-1, 1, buf.a.shape)
buf.o2[:] = 0.9 * buf.o + 0.1 * np.tile(buf.a, 2)
buf.r[:] = -np.square(buf.o).sum(1) + buf.a[:, 0]
actor, critic = Actor(4, 2).to(device), Critic(4, 2).to(device)
for p in [*actor.parameters(), *critic.parameters()]:
    p.data = torch.from_numpy(rng.normal(0, 0.25, tuple(p.shape)).astype(np.float32))
target = copy.deepcopy(critic)
for p in target.parameters():
    p.requires_grad = False
log_alpha = torch.zeros(1, requires_grad=True, device=device)
pi_opt, q_opt = (
    torch.optim.Adam(actor.parameters(), lr=3e-3),
    torch.optim.AdamW(critic.parameters(), lr=3e-3),
)
a_opt = torch.optim.Adam([log_alpha], lr=1e-2)
hist = []
for step in range(15):
    b = buf.sample(32)

    def eps():
        return torch.from_numpy(rng.normal(size=(32, 2))).float()

    with torch.no_grad():
        a2, logp2 = actor(b["o2"], eps())
        backup = b["r"] + 0.99 * (1 - b["d"]) * (
            torch.minimum(*target(b["o2"], a2)) - log_alpha.exp() * logp2
        )
    q1, q2 = critic(b["o"], b["a"])
    q_loss = F.mse_loss(q1, backup) + ((q2 - backup) ** 2).mean()
    q_opt.zero_grad()
    q_loss.backward()
    q_opt.step()
    for p in critic.parameters():
        p.requires_grad_(False)
    a, logp = actor(b["o"], eps())
    pi_loss = (log_alpha.exp().detach() * logp - torch.min(*critic(b["o"], a))).mean()
    pi_opt.zero_grad()
    pi_loss.backward()
    pi_opt.step()
    for p in critic.parameters():
        p.requires_grad_(True)
    alpha_loss = -(log_alpha * (logp + -2.0).detach()).mean()
    a_opt.zero_grad()
    alpha_loss.backward()
    a_opt.step()
    with torch.no_grad():
        for p, t in zip(critic.parameters(), target.parameters()):
            t.data.mul_(0.995)
            t.data.add_((1 - 0.995) * p.data)
    hist.append([q_loss.item(), pi_loss.item(), log_alpha.item()])
base = Independent(Normal(torch.zeros(3, 2), torch.ones(2) * 0.5), 1)
squashed = TransformedDistribution(base, [TanhTransform(cache_size=1), AffineTransform(0.0, 2.0)])
v = torch.tensor([[0.3, -0.2], [1.2, 0.4], [-1.9, 1.0]])
OUT = dict(
    hist=hist,
    sq=squashed.log_prob(v),
    es=list(squashed.event_shape),
    s=squashed.rsample().shape == (3, 2),
    target=next(iter(target.parameters())),
)
