"""LoRA by parametrizations on a frozen transformer; distilled from a teacher; merged and saved."""

import copy
import io

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.parametrize as parametrize
from torch.nn.utils import parametrizations, prune
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(34)


class LoRA(nn.Module):
    def __init__(self, weight, rank=2, alpha=4.0):
        super().__init__()
        self.a = nn.Parameter(torch.from_numpy(rng.normal(0, 0.3, (rank, weight.shape[1]))))
        self.b = nn.Parameter(torch.from_numpy(rng.normal(0, 0.3, (weight.shape[0], rank))))
        self.scale = alpha / rank
        self.enabled = True

    def forward(self, w):
        return w + self.scale * self.b @ self.a if self.enabled else w


class Net(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            d, 2, 16, dropout=0.0, activation=F.gelu, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(d), enable_nested_tensor=False)
        self.bn = nn.BatchNorm1d(d, momentum=None)
        self.head = nn.Linear(d, 5)

    def forward(self, x):
        return self.head(self.bn(self.encoder(x).mean(1)))


def filled(model):
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.from_numpy(rng.normal(0, 0.3, tuple(p.shape))))
    return model


teacher = filled(Net()).eval().requires_grad_(False)
student = filled(Net())
student.requires_grad_(False)
for name, module in list(student.named_modules()):
    if isinstance(module, nn.Linear) and "linear" in name:
        parametrize.register_parametrization(module, "weight", LoRA(module.weight))
parametrizations.weight_norm(student.head, "weight", dim=0)
for p in student.head.parameters():
    p.requires_grad_(True)
trainable = [n for n, p in student.named_parameters() if p.requires_grad]
x = torch.from_numpy(rng.normal(size=(12, 4, 8)))
y = torch.from_numpy(rng.integers(0, 5, 12))
params = [p for p in student.parameters() if p.requires_grad]
opt = torch.optim.SGD(params, lr=0.05, momentum=0.9, nesterov=True)
ema = AveragedModel(student, multi_avg_fn=get_ema_multi_avg_fn(0.8), use_buffers=True)
swa = AveragedModel(student)
warm = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=6, pct_start=0.5)
swalr = SWALR(opt, swa_lr=0.02, anneal_epochs=2, anneal_strategy="linear")
log = []
for step in range(8):
    lam = float(rng.beta(0.4, 0.4))
    order = torch.from_numpy(rng.permutation(12))
    mixed = lam * x + (1 - lam) * x[order]
    with parametrize.cached():
        logits = student(mixed)
    with torch.no_grad():
        soft = F.softmax(teacher(mixed) / 3.0, -1)
    hard = lam * F.cross_entropy(logits, y, label_smoothing=0.1)
    hard = hard + (1 - lam) * F.cross_entropy(logits, y[order], label_smoothing=0.1)
    kd = F.kl_div(F.log_softmax(logits / 3.0, -1), soft, reduction="batchmean") * 9
    loss = 0.4 * hard + 0.6 * kd
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.update_parameters(student)
    if step < 6:
        warm.step()
    else:
        swa.update_parameters(student)
        swalr.step()
    log.append([loss.item(), opt.param_groups[0]["lr"], opt.param_groups[0].get("momentum")])
update_bn([x[:6], x[6:]], swa)
buffer = io.BytesIO()
torch.save(student.state_dict(), buffer)
buffer.seek(0)
state = torch.load(buffer, weights_only=True)
other = copy.deepcopy(student)
for p in other.parameters():
    p.data.zero_()
loaded = other.load_state_dict(state)
student.eval(), other.eval(), ema.eval(), swa.eval()
before, again = student(x), other(x)
averages = ema(x), swa(x)
for module in student.modules():
    if parametrize.is_parametrized(module, "weight"):
        parametrize.remove_parametrizations(module, "weight", leave_parametrized=True)
merged = student(x)
linears = [(m, "weight") for m in student.modules() if isinstance(m, nn.Linear)]
prune.global_unstructured(linears, pruning_method=prune.L1Unstructured, amount=0.4)
prune.ln_structured(student.head, "weight", amount=1, n=2, dim=0)
sparse = [float((m.weight == 0).double().mean()) for m, _ in linears]
pruned = student(x)
for m, _ in linears:
    prune.remove(m, "weight")
OUT = dict(
    log=log,
    trainable=trainable,
    loaded=str(loaded),
    same=torch.equal(again, before),
    merged=merged,
    before=before,
    averages=averages,
    n=int(swa.n_averaged),
    sparse=sparse,
    pruned=pruned,
    keys=sorted(student.state_dict()),
    all_keys=list(state),
    grads=[p.grad for p in params],
)
