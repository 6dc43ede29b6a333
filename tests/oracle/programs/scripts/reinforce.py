import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical, Normal

rng = np.random.default_rng(14)
torch.set_default_dtype(torch.float64)


class Grid:
    """Walk on a line of 7 cells; the reward is at the right."""

    def reset(self):
        self.s, self.t = 3, 0
        return self.obs()

    def obs(self):
        return np.eye(7)[self.s]

    def step(self, a):
        self.s = int(np.clip(self.s + (1 if a == 1 else -1), 0, 6))
        self.t += 1
        done = self.s in (0, 6) or self.t >= 20
        return self.obs(), (1.0 if self.s == 6 else -0.05), done


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(7, 16)
        self.pi, self.v = nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, x):
        h = torch.tanh(self.base(x))
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def seeded(net):
    for p in net.parameters():
        p.data.copy_(torch.from_numpy(rng.normal(0, 0.3, p.shape)))
    return net


net = seeded(ActorCritic())
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
env, returns = Grid(), []
for ep in range(8):
    obs, logps, values, rewards, ents, done = env.reset(), [], [], [], [], False
    while not done:
        dist, v = net(torch.as_tensor(obs, dtype=torch.float64))
        a = int(rng.random() < dist.probs[1].item())
        logps.append(dist.log_prob(torch.tensor(a)))
        values.append(v)
        ents.append(dist.entropy())
        obs, r, done = env.step(a)
        rewards.append(r)
    R, G = 0, []
    for r in rewards[::-1]:
        R = r + 0.97 * R
        G.insert(0, R)
    G = torch.tensor(G)
    V = torch.stack(values)
    adv = G - V.detach()
    adv = (adv - adv.mean()) / (adv.std(unbiased=False) + 1e-8)
    loss = (
        -(torch.stack(logps) * adv).sum() + 0.5 * F.mse_loss(V, G) - 0.01 * torch.stack(ents).mean()
    )
    opt.zero_grad()
    loss.backward()
    opt.step()
    returns.append(sum(rewards))

# PPO on one collected batch
obs = torch.from_numpy(np.eye(7)[rng.integers(1, 6, 64)])
with torch.no_grad():
    d, v = net(obs)
acts = torch.from_numpy((rng.random(64) < 0.5).astype(np.int64))
old, adv = d.log_prob(acts), torch.from_numpy(rng.normal(size=64))
ret = v + adv
for ep in range(4):
    perm = torch.from_numpy(rng.permutation(64))
    for mb in perm.split(16):
        dist, val = net(obs[mb])
        ratio = (dist.log_prob(acts[mb]) - old[mb]).exp()
        s1, s2 = ratio * adv[mb], ratio.clamp(0.8, 1.2) * adv[mb]
        pl = -torch.min(s1, s2).mean()
        vclip = v[mb] + (val - v[mb]).clamp(-0.2, 0.2)
        vl = torch.max((val - ret[mb]) ** 2, (vclip - ret[mb]) ** 2).mean()
        loss = pl + 0.5 * vl - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
clipfrac = ((ratio - 1).abs() > 0.2).double().mean()
# tanh squashed Gaussian (SAC)
mu, ls = torch.zeros(5, requires_grad=True), torch.full((5,), -0.5, requires_grad=True)
eps = torch.from_numpy(rng.normal(size=5))
pre = mu + ls.exp() * eps
lp = (Normal(mu, ls.exp()).log_prob(pre) - torch.log(1 - torch.tanh(pre) ** 2 + 1e-6)).sum()
lp.backward()
OUT = dict(ret=returns, loss=loss, cf=clipfrac, g=ls.grad, pi=net(torch.eye(7))[0].probs)
