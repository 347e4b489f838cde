"""Learning-rate schedule by a time budget, and resumable checkpoints."""

import os
import time
from pathlib import Path

import torch
from safetensors.torch import load_file


class Budget:
    """Training progress from 0 to 1 by wall-clock time; survives a restart through `elapsed`."""

    def __init__(self, minutes, elapsed=0.0):
        self.seconds = minutes * 60
        self.start = time.monotonic() - elapsed

    @property
    def elapsed(self):
        return time.monotonic() - self.start

    @property
    def progress(self):
        return min(1.0, self.elapsed / self.seconds)


def linear_rate(progress, warmup=0.02):
    """Factor on the peak learning rate: linear warm-up, then linear decay to 1 %."""
    if progress < warmup:
        return max(progress / warmup, 0.01)
    return max((1 - progress) / (1 - warmup), 0.01)


def trapezoid_rate(progress, warmup=0.02, decay=0.35):
    """Factor on the peak rate: linear warm-up, constant, then linear decay; the constant part may be made longer while it lasts."""
    return min(max(progress / warmup, 0.01), 1.0, max((1 - progress) / decay, 0.01))


def set_rate(optimizer, rate):
    for group in optimizer.param_groups:
        group["lr"] = rate


def make_optimizer(modules, weight_decay=0.01):
    """AdamW without weight decay on biases and LayerNorm parameters."""
    parameters = [p for module in modules for p in module.parameters() if p.requires_grad]
    matrices = [p for p in parameters if p.ndim > 1]
    vectors = [p for p in parameters if p.ndim <= 1]
    return torch.optim.AdamW([{"params": matrices, "weight_decay": weight_decay},
                              {"params": vectors, "weight_decay": 0.0}], lr=0.0, betas=(0.9, 0.98), eps=1e-6,
                             fused=True)


def save_checkpoint(path, **state):
    """Writes beside the target and renames, so that a reader never sees half a file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    torch.save(state, partial)
    os.replace(partial, path)


def load_checkpoint(path):
    return torch.load(path, map_location="cpu", weights_only=True)


def load_weights(path):
    """A model's state from `best.pt` of a run or from model.safetensors, in float32."""
    if Path(path).suffix == ".pt":
        return load_checkpoint(path)["model"]
    return {name: tensor.float() for name, tensor in load_file(path).items()}


def single_thread(seed):
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(seed)
