import math

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(26)


class GP(torch.nn.Module):
    def __init__(self, X, y):
        super().__init__()
        self.X, self.y = X, y
        self.raw = torch.nn.ParameterDict(
            {
                "ls": torch.nn.Parameter(torch.zeros(X.shape[1])),
                "var": torch.nn.Parameter(torch.tensor(0.0)),
                "noise": torch.nn.Parameter(torch.tensor(-2.0)),
            }
        )

    def kernel(self, A, B):
        ls = torch.nn.functional.softplus(self.raw["ls"])
        d = torch.cdist(A / ls, B / ls)
        return self.raw["var"].exp() * (1 + math.sqrt(3) * d) * torch.exp(-math.sqrt(3) * d)

    def rbf(self, A, B):
        sq = (A.unsqueeze(1) - B.unsqueeze(0)).square().sum(-1)
        return torch.exp(-0.5 * sq)

    def K(self):
        n = len(self.X)
        return (
            self.kernel(self.X, self.X)
            + 0.1 * self.rbf(self.X, self.X)
            + (self.raw["noise"].exp() + 1e-6) * torch.eye(n)
        )

    def nll(self):
        L = torch.linalg.cholesky(self.K())
        alpha = torch.cholesky_solve(self.y.unsqueeze(-1), L)
        return (
            0.5 * self.y @ alpha.squeeze()
            + L.diagonal().log().sum()
            + 0.5 * len(self.y) * math.log(2 * math.pi)
        )

    @torch.no_grad()
    def predict(self, Xs):
        L = torch.linalg.cholesky(self.K())
        Ks = self.kernel(self.X, Xs)
        v = torch.linalg.solve_triangular(L, Ks, upper=False)
        mean = Ks.T @ torch.cholesky_solve(self.y[:, None], L)
        cov = self.kernel(Xs, Xs) - v.T @ v
        return mean.squeeze(-1), cov


X = torch.from_numpy(rng.uniform(-2, 2, (25, 2)))
y = torch.sin(2 * X[:, 0]) + 0.1 * torch.from_numpy(rng.normal(size=25))
gp = GP(X, y)
opt = torch.optim.Rprop(gp.parameters(), lr=0.02)
ls = []
for _ in range(20):
    opt.zero_grad()
    l = gp.nll()
    l.backward()
    opt.step()
    ls.append(l.item())
mean, cov = gp.predict(torch.from_numpy(rng.uniform(-2, 2, (6, 2))))
dist = torch.distributions.MultivariateNormal(torch.zeros(25), covariance_matrix=gp.K())
ei_u = (mean - 0.2) / cov.diag().clamp_min(1e-9).sqrt()
n01 = torch.distributions.Normal(0.0, 1.0)
ei = cov.diag().clamp_min(1e-9).sqrt() * (ei_u * n01.cdf(ei_u) + n01.log_prob(ei_u).exp())
OUT = dict(ls=ls, mean=mean, cov=cov, lp=-dist.log_prob(y), ei=ei, keys=sorted(gp.state_dict()))
