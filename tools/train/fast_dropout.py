"""Dropout whose masks are slices of one long random mask: drawing a number for every value is slow on a CPU."""

import torch
from torch import nn

LENGTH = 1 << 23


class SlicedDropout(nn.Module):
    masks = {}

    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        key = (self.p, x.dtype)
        if key not in self.masks:
            keep = torch.rand(LENGTH) >= self.p
            self.masks[key] = (keep / (1 - self.p)).to(x.dtype)
        count = x.numel()
        if count > LENGTH:
            return nn.functional.dropout(x, self.p)
        start = int(torch.randint(LENGTH - count + 1, ()))
        return x * self.masks[key][start:start + count].view_as(x)


def replace_dropout(model):
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Dropout):
                setattr(module, name, SlicedDropout(child.p))
    return model
