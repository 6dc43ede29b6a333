"""PyTorch's `torch.utils.data._utils`, from which programs import how batches are put together."""

from . import collate as collate
