"""A larger encoder of the same vocabulary that labels texts for the small one, and how its labels are handed over."""

import os
import time

import numpy as np
import torch
from transformers import BertConfig

TEACHER_PART = 0.62  # of the run, after which its labels are there


def teacher_config(small, layers=6, hidden=256):
    return BertConfig(vocab_size=small.vocab_size, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=hidden // 64,
                      intermediate_size=4 * hidden, max_position_embeddings=512, type_vocab_size=2, pad_token_id=small.pad_token_id or 0,
                      id2label=small.id2label, label2id=small.label2id)


@torch.no_grad()
def labels_of(model, rows, chosen, autocast, tokens=65536):
    """Chances [.., labels] as float16, of the texts `chosen`, in one array: of every text, or of every token of the texts in their order."""
    model.eval()
    of_tokens = {}
    rng = np.random.default_rng(0)
    for step in rows.steps(chosen, tokens, rng):
        for index, length in step:
            with autocast():
                logits = model(input_ids=rows.read(index, length)).logits
            for number, row in zip(index.tolist(), torch.softmax(logits.float(), -1).half().cpu().numpy()):
                of_tokens[number] = row
    return [of_tokens[number] for number in chosen]


def hand_over(path, labels):
    """Writes a second file and renames it, so that no reader sees half of it."""
    partial = path.with_suffix(".partial.npy")
    np.save(partial, labels)
    os.replace(partial, path)
    print(f"the teacher's labels are there, {labels.shape}", flush=True)


class Awaited:
    """The teacher's labels once they are there; looks every two seconds."""

    def __init__(self, path):
        self.path, self.looked, self.done = path, 0.0, path is None

    def labels(self):
        if self.done or time.time() - self.looked < 2:
            return None
        self.looked = time.time()
        if not self.path.exists():
            return None
        self.done = True
        return np.load(self.path)
