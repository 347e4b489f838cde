"""Whole-word masking for masked language modelling (80 % [MASK], 10 % random, 10 % unchanged)."""

import numpy as np
import torch


class WordMasker:
    def __init__(self, vocab, rate=0.15):
        """`vocab` maps token to id."""
        self.rate = rate
        self.size = len(vocab)
        self.mask_id = vocab["[MASK]"]
        self.special = np.zeros(self.size, dtype=bool)
        self.special[[vocab[token] for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")]] = True
        self.continues = np.zeros(self.size, dtype=bool)
        self.continues[[number for token, number in vocab.items() if token.startswith("##")]] = True

    def __call__(self, ids, rng):
        """Masks `ids` [B, T]; returns (masked ids, selected [B, T] bool) as tensors."""
        flat = ids.reshape(-1)
        word = np.cumsum(~self.continues[flat])  # a number for each word; continuations share their word's
        chosen = (rng.random(word[-1] + 1) < self.rate)[word].reshape(ids.shape) & ~self.special[ids]
        kind = rng.random(ids.shape)
        masked = np.where(chosen & (kind < 0.8), self.mask_id, ids)
        masked = np.where(chosen & (kind >= 0.9), rng.integers(5, self.size, ids.shape), masked)
        return torch.from_numpy(masked.astype(np.int64)), torch.from_numpy(chosen)
