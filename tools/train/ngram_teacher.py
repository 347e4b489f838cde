"""Naive-Bayes-weighted logistic regression on word pairs (Wang and Manning, 2012), a teacher that trains in seconds.

It labels sentences of whole reviews softly, so that the classifier sees many more film sentences than carry a label.
"""

import math
import random
import re
from collections import Counter

import numpy as np
import torch
from torch.nn import functional as F

TOKEN = re.compile(r"\w+|[^\w\s]")


def features(text):
    words = TOKEN.findall(text.lower())
    return set(words) | {f"{a} {b}" for a, b in zip(words, words[1:])}


class NgramTeacher:
    def __init__(self, rows, weight_decay=0.003, epochs=6, seed=1):
        torch.manual_seed(seed)
        counts = [Counter(), Counter()]
        sets = [features(text) for _, text in rows]
        for (label, _), found in zip(rows, sets):
            counts[label].update(found)
        known = [f for f in counts[0] | counts[1] if counts[0][f] + counts[1][f] > 1]
        self.index = {f: i for i, f in enumerate(known)}
        totals = [sum(c[f] + 1 for f in known) for c in counts]
        self.ratio = torch.tensor([math.log((counts[1][f] + 1) / totals[1] * totals[0] / (counts[0][f] + 1))
                                   for f in known])
        self.weight = torch.full((len(known),), 0.3, requires_grad=True)
        self.bias = torch.zeros(1, requires_grad=True)
        self.fit([self.indexes(found) for found in sets], torch.tensor([float(label) for label, _ in rows]),
                 weight_decay, epochs)

    def indexes(self, found):
        return torch.tensor([self.index[f] for f in found if f in self.index], dtype=torch.long)

    def logits(self, inputs):
        offsets = torch.tensor([0, *np.cumsum([len(i) for i in inputs])[:-1]])
        table = (self.weight * self.ratio)[:, None]
        return F.embedding_bag(torch.cat(inputs), table, offsets, mode="sum")[:, 0] + self.bias

    def fit(self, inputs, labels, weight_decay, epochs):
        optimizer = torch.optim.Adam([self.weight, self.bias], lr=0.02)
        order = list(range(len(inputs)))
        rng = random.Random(1)
        for _ in range(epochs):
            rng.shuffle(order)
            for start in range(0, len(order), 256):
                batch = order[start:start + 256]
                loss = F.binary_cross_entropy_with_logits(self.logits([inputs[i] for i in batch]), labels[batch])
                (loss + weight_decay * (self.weight ** 2).mean()).backward()
                optimizer.step()
                optimizer.zero_grad()

    @torch.no_grad()
    def probabilities(self, texts):
        """Probability of POSITIVE for each text."""
        return torch.sigmoid(self.logits([self.indexes(features(text)) for text in texts])).numpy()
