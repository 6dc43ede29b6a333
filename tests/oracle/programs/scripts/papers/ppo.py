import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical, Normal, kl_divergence
from torch.utils.data import BatchSampler, SequentialSampler

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(1)


class ActorCritic(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh())
        self.pi = nn.Linear(16, n_act)
        self.v = nn.Linear(16, 1)
        self.log_std = nn.Parameter(torch.zeros(n_act))

    def forward(self, x):
        h = self.body(x)
        return (
            Categorical(logits=self.pi(h)),
            Normal(self.pi(h), self.log_std.exp()),
            self.v(h).squeeze(-1),
        )


net = ActorCritic(4, 3)
with torch.no_grad():
    for p in net.parameters():
        p.copy_(torch.as_tensor(rng.normal(size=tuple(p.shape)) * 0.3))
T, N = 12, 4
obs = torch.from_numpy(rng.normal(size=(T, N, 4)))
rew = torch.from_numpy(rng.normal(size=(T, N)))
done = torch.from_numpy(rng.random((T, N)) < 0.2)
act = torch.from_numpy(rng.integers(0, 3, (T, N)))
cont = torch.from_numpy(rng.normal(size=(T, N, 3)))
with torch.no_grad():
    d, nrm, values = net(obs)
    old_logp = d.log_prob(act)
    old_clogp = nrm.log_prob(cont).sum(-1)
    old = Categorical(logits=d.logits.clone())
    adv = torch.zeros_like(rew)
    last = torch.zeros(N)
    for t in reversed(range(T)):
        nextv = values[t + 1] if t + 1 < T else torch.zeros(N)
        alive = 1.0 - done[t].to(rew.dtype)
        delta = rew[t] + 0.99 * nextv * alive - values[t]
        last = delta + 0.99 * 0.95 * alive * last
        adv[t] = last
    ret = adv + values


def flat(x):
    return x.flatten(0, 1)


obs, act, cont, old_logp, old_clogp, adv, ret, values = map(
    flat, (obs, act, cont, old_logp, old_clogp, adv, ret, values)
)
opt = torch.optim.Adam(net.parameters(), lr=3e-3, eps=1e-5)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: 1 - e / 10)
log = []
for epoch in range(4):
    perm = torch.from_numpy(rng.permutation(T * N))
    for mb in BatchSampler(SequentialSampler(range(T * N)), batch_size=16, drop_last=True):
        i = perm[torch.tensor(mb)]
        d, nrm, v = net(obs[i])
        ratio = (d.log_prob(act[i]) - old_logp[i]).exp()
        cratio = (nrm.log_prob(cont[i]).sum(-1) - old_clogp[i]).exp()
        a = (adv[i] - adv[i].mean()) / (adv[i].std() + 1e-8)
        pg = (
            -torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean()
            - 0.1 * torch.minimum(cratio * a, torch.clamp(cratio, 0.8, 1.2) * a).mean()
        )
        vclip = values[i] + (v - values[i]).clamp(-0.2, 0.2)
        vl = 0.5 * torch.max((v - ret[i]) ** 2, (vclip - ret[i]) ** 2).mean()
        ent = d.entropy().mean() + nrm.entropy().sum(-1).mean()
        loss = pg + 0.5 * vl - 0.01 * ent
        opt.zero_grad(set_to_none=True)
        loss.backward()
        gn = nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        log.append((loss.item(), gn.item(), ((ratio - 1).abs() > 0.2).double().mean().item()))
    sched.step()
with torch.no_grad():
    d2, n2, _ = net(obs)
    kl = kl_divergence(Categorical(logits=old.logits.flatten(0, 1)), d2).mean()
OUT = {
    "log": log,
    "kl": kl,
    "lr": sched.get_last_lr(),
    "explained": 1 - (ret - values).var() / ret.var(),
}
