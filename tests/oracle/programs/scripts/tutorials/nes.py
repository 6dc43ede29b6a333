"""Evolution strategies, a policy gradient with GAE and a custom Function, by vmap and by hand."""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical, Independent, Normal, kl_divergence
from torch.func import functional_call, vmap
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(40)


class Pendulum:
    def reset(self, n):
        self.s = torch.from_numpy(rng.uniform(-1, 1, (n, 2)))
        return self.observe()

    def observe(self):
        return torch.stack([self.s[:, 0].cos(), self.s[:, 0].sin(), self.s[:, 1]], -1)

    def step(self, u):
        th, w = self.s.unbind(-1)
        cost = torch.remainder(th + torch.pi, 2 * torch.pi).sub(torch.pi).square() + 0.1 * w * w
        w = torch.clip(w + 0.1 * (7.5 * th.sin() + 3 * u), -8, 8)
        self.s = torch.stack([th + 0.1 * w, w], -1)
        return self.observe(), -cost - 0.001 * u * u


class StraightThrough(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, levels):
        return torch.round(x * levels) / levels

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.levels = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() <= 1), None

    @staticmethod
    def jvp(ctx, t, _):
        (x,) = ctx.saved_tensors
        return t * (x.abs() <= 1)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 8), nn.Mish(), nn.LayerNorm(8))
        self.mu, self.v = nn.Linear(8, 1), nn.Linear(8, 1)
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        h = self.body(x)
        mu = StraightThrough.apply(torch.tanh(self.mu(h)), 16.0)
        return Independent(Normal(mu, self.log_std.exp().expand_as(mu)), 1), self.v(h).squeeze(-1)


net = ActorCritic()
for p in net.parameters():
    p.data = torch.from_numpy(rng.normal(0, 0.4, p.shape))
env = Pendulum()


@torch.no_grad()
def rollout(n=5, steps=12):
    obs, store = env.reset(n), []
    for _ in range(steps):
        pi, v = net(obs)
        a = pi.mean + pi.stddev * torch.from_numpy(rng.normal(size=(n, 1)))
        nxt, r = env.step(a.squeeze(-1))
        store.append((obs, a, pi.log_prob(a), r, v))
        obs = nxt
    return [torch.stack(c) for c in zip(*store)], net(obs)[1]


def gae(r, v, last, gamma=0.97, lam=0.9):
    adv, out = torch.zeros_like(last), []
    values = torch.cat([v, last[None]])
    for t in reversed(range(len(r))):
        adv = r[t] + gamma * values[t + 1] - values[t] + gamma * lam * adv
        out.insert(0, adv)
    return torch.stack(out)


opt = torch.optim.RMSprop(net.parameters(), lr=0.003, centered=True, momentum=0.5, eps=1e-5)
lam = torch.optim.lr_scheduler.MultiplicativeLR(opt, lambda e: 0.95)
log = []
for it in range(3):
    (obs, a, old, r, v), last = rollout()
    adv = gae(r, v, last)
    ret = adv + v
    adv = (adv - adv.mean()) / (adv.std(unbiased=False) + 1e-8)
    flat = [u.flatten(0, 1) for u in (obs, a, old, adv, ret, v)]
    for rows in torch.from_numpy(rng.permutation(60)).chunk(3):
        o, aa, lo, ad, re, ov = (u[rows] for u in flat)
        pi, val = net(o)
        ratio = (pi.log_prob(aa) - lo).exp()
        surr = torch.min(ratio * ad, ratio.clamp(0.8, 1.2) * ad).mean()
        clipped = ov + (val - ov).clamp(-0.2, 0.2)
        vf = 0.5 * torch.max((val - re).square(), (clipped - re).square()).mean()
        loss = -surr + 0.5 * vf - 0.01 * pi.entropy().mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5, foreach=True)
        opt.step()
        log.append([loss.item(), ratio.mean().item()])
    lam.step()

# evolution: ranks of antithetic perturbations, all in one call
theta = parameters_to_vector(net.parameters()).detach()
names, shapes = zip(*[(n, p.shape) for n, p in net.named_parameters()])
obs = env.reset(9)


def score(vec):
    parts = vec.split([int(np.prod(s)) for s in shapes])
    params = {n: p.reshape(s) for n, p, s in zip(names, parts, shapes)}
    pi, v = functional_call(net, params, (obs,))
    return -(pi.mean.squeeze(-1) - obs[:, 1]).square().mean() - 0.1 * v.square().mean()


scores = []
m, s = torch.zeros_like(theta), torch.zeros_like(theta)
for it in range(4):
    noise = torch.from_numpy(rng.normal(size=(10, len(theta))))
    fitness = vmap(score)(torch.cat([theta + 0.1 * noise, theta - 0.1 * noise]))
    ranks = torch.empty(20).scatter_(0, fitness.argsort(), torch.linspace(-0.5, 0.5, 20))
    g = (ranks[:10] - ranks[10:]) @ noise / (20 * 0.1)
    m.mul_(0.9).add_(g, alpha=0.1)
    s.mul_(0.99).addcmul_(g, g, value=0.01)
    theta = theta.addcdiv(m, s.sqrt() + 1e-8, value=0.02)
    scores.append([fitness.mean().item(), fitness.max().item()])
exact = torch.func.jacrev(score)(theta)
push = torch.func.jvp(score, (theta,), (m,))[1]
each = vmap(torch.func.grad(lambda w, o: StraightThrough.apply(w @ o, 8.0).sin()), (None, 0))(
    theta[:3], obs
)
before, _ = net(obs)
vector_to_parameters(theta, net.parameters())
after, _ = net(obs)
pick = Categorical(logits=obs)
reinforce = (pick.log_prob(torch.arange(9) % 3) * obs[:, 1]).sum()
OUT = dict(
    log=log,
    scores=scores,
    exact=exact,
    push=push,
    each=each,
    theta=theta,
    kl=kl_divergence(before, after),
    reinforce=reinforce,
    probs=pick.probs,
    grads=[p.grad for p in net.parameters()],
)
