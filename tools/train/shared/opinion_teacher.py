"""Logistic regression on words, word pairs and triples, and pieces of words: a teacher of opinions that is fitted in two minutes.

One table of weights is shared by all sets of texts, and every set has one of its own that is added (Daume, 2007), so that a word
of a product or of a whole review counts for a film sentence too. It labels softly whatever the classifier is shown without a label.
"""

import re

import numpy as np
import torch
from torch.nn import functional as F

TOKEN = re.compile(r"\w+|[^\w\s]")
PIECES = (4, 5)  # characters of a piece of a word, its borders included
SCALE = 5.0  # of the sum over a text's features, which is divided by the root of their number
BATCH = 512


def pieces(word):
    marked = f"<{word}>"
    return [f"#{marked[i:i + size]}" for size in PIECES for i in range(len(marked) - size + 1)]


def features(text):
    words = TOKEN.findall(text.lower())
    found = set(words)
    found.update(f"{a} {b}" for a, b in zip(words, words[1:]))
    found.update(f"{a} {b} {c}" for a, b, c in zip(words, words[1:], words[2:]))
    for word in words:
        found.update(pieces(word))
    return found


class OpinionTeacher:
    def __init__(self, index, names, table, bias):
        """`table` [features, 1 + sets]: the shared weights, then each set's own."""
        self.index, self.names, self.table, self.bias = index, list(names), table, bias

    def indexes(self, text):
        return np.array(sorted(self.index[f] for f in features(text) if f in self.index), dtype=np.int64)

    def columns(self, inputs):
        """[texts, 1 + sets]: what the shared weights say of each text, and what each set's own add."""
        offsets = torch.from_numpy(np.cumsum([0] + [len(i) for i in inputs[:-1]]))
        scale = torch.tensor([SCALE / max(len(i), 1) ** 0.5 for i in inputs])
        sums = F.embedding_bag(torch.from_numpy(np.concatenate(inputs)), self.table, offsets, mode="sum")
        return sums * scale[:, None] + self.bias

    @torch.no_grad()
    def logits(self, texts, sets):
        """Of POSITIVE, for texts like those of `sets` (the mean where there are several)."""
        own = [1 + self.names.index(name) for name in sets]
        columns = [self.columns([self.indexes(text) for text in texts[i:i + BATCH]]) for i in range(0, len(texts), BATCH)]
        columns = torch.cat(columns)
        return (columns[:, 0] + columns[:, own].mean(1)).numpy()

    def save(self, path):
        torch.save({"features": list(self.index), "names": self.names, "table": self.table, "bias": self.bias}, path)

    @classmethod
    def load(cls, path):
        state = torch.load(path, weights_only=True)
        return cls({f: i for i, f in enumerate(state["features"])}, state["names"], state["table"], state["bias"])

    @classmethod
    def fit(cls, rows, repeats, epochs=6, rate=0.1, dropout=0.3, weight_decay=1e-6, seed=0):
        """`rows` {set: [(label, text)]}; `repeats` {set: times an epoch shows it}, once where not named."""
        torch.manual_seed(seed)
        rng = np.random.default_rng(seed)
        counts = {}
        for part in rows.values():
            for _, text in part:
                for feature in features(text):
                    counts[feature] = counts.get(feature, 0) + 1
        index = {feature: i for i, feature in enumerate(sorted(f for f, count in counts.items() if count > 1))}
        teacher = cls(index, rows, torch.zeros(len(index), 1 + len(rows), requires_grad=True),
                      torch.zeros(1 + len(rows), requires_grad=True))
        inputs = {name: [teacher.indexes(text) for _, text in part] for name, part in rows.items()}
        optimizer = torch.optim.Adagrad([teacher.table, teacher.bias], lr=rate, initial_accumulator_value=1e-4)
        for _ in range(epochs):
            batches = []
            for name, part in rows.items():
                order = rng.permutation(np.repeat(np.arange(len(part)), repeats.get(name, 1)))
                batches += [(name, order[i:i + BATCH]) for i in range(0, len(order), BATCH)]
            for number in rng.permutation(len(batches)):
                name, chosen = batches[number]
                own = 1 + teacher.names.index(name)
                kept = [inputs[name][i] for i in chosen]
                kept = [i[rng.random(len(i)) > dropout] if len(i) > 3 else i for i in kept]
                columns = teacher.columns(kept)
                labels = torch.tensor([float(rows[name][i][0]) for i in chosen])
                loss = F.binary_cross_entropy_with_logits(columns[:, 0] + columns[:, own], labels)
                loss = loss + weight_decay * (teacher.table[:, [0, own]] ** 2).sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        teacher.table, teacher.bias = teacher.table.detach(), teacher.bias.detach()
        return teacher


def best_temperature(logits, labels):
    """What to divide logits by so that their chances are as sure as they are right."""
    logits, labels = torch.from_numpy(logits), torch.tensor([float(label) for label in labels])
    candidates = [0.5 + 0.1 * i for i in range(60)]
    losses = [F.binary_cross_entropy_with_logits(logits / t, labels).item() for t in candidates]
    return candidates[int(np.argmin(losses))]
