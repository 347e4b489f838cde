"""A tagger that sees capital letters: logistic regression on hashed features of a word and its neighbours.

The demo model reads lower-case text. This teacher, which trains in a minute, labels cased text softly, so that the model
sees many more names than the labelled sets hold, and learns from their spelling what the teacher learnt from their case.
"""

import random
import zlib

import numpy as np
import torch
from torch.nn import functional as F

from entities import LABELS, WITHOUT_MISC

BUCKETS = 1 << 18
EDITED = ("wikigold",)  # sets of edited text; the others are tweets and other posts, whose capitals mean less


def shape(word):
    """'Lindqvist' is Xx, 'U.S.' is X.X., '1984' is 0; runs are written once."""
    classes = ["X" if c.isupper() else "x" if c.islower() else "0" if c.isdigit() else c for c in word]
    return "".join(c for index, c in enumerate(classes) if index == 0 or classes[index - 1] != c)[:6]


def features(words, is_edited):
    """Bucket numbers of every word's features, alone and together with the kind of text (Daume III, 2007)."""
    padded = ["<s>", "<s>", *words, "</s>", "</s>"]
    lower, shapes = [word.lower() for word in padded], [shape(word) for word in padded]
    rows = []
    for i in range(2, len(padded) - 2):
        row = [f"{at}w{lower[i + at]}" for at in range(-2, 3)] + [f"{at}s{shapes[i + at]}" for at in range(-2, 3)]
        row += [f"p{lower[i][:n]}" for n in (2, 3, 4)] + [f"q{lower[i][-n:]}" for n in (2, 3, 4)]
        row += [f"c{padded[i]}", f"f{shapes[i]}{i == 2}", f"a{shapes[i - 1]} {shapes[i]} {shapes[i + 1]}",
                f"b{lower[i - 1]} {lower[i]}", f"d{lower[i]} {lower[i + 1]}", f"e{lower[i - 1]} {shapes[i]}",
                f"g{shapes[i]} {lower[i + 1]}", f"h{lower[i - 2]} {lower[i - 1]} {shapes[i]}"]
        row += [f"{is_edited:d}{feature}" for feature in row]
        rows.append([zlib.crc32(feature.encode("utf-8")) % BUCKETS for feature in row])
    return rows


def allowed(label, name):
    """1 for every label that the annotation leaves possible."""
    possible = {"O", "B-MISC", "I-MISC"} if label == "O" and name in WITHOUT_MISC else {label}
    return [float(other in possible) for other in LABELS]


class CaseTeacher:
    def __init__(self, sentences, epochs=4, batch=512, weight_decay=1e-5, seed=1):
        """`sentences` is a list of (Sentence, name of its set)."""
        torch.manual_seed(seed)
        self.table = torch.zeros(BUCKETS, len(LABELS), requires_grad=True)
        rows, targets = [], []
        for sentence, name in sentences:
            for row, label in zip(features(sentence.words, name in EDITED), sentence.labels):
                if label is not None:
                    rows.append(row)
                    targets.append(allowed(label, name))
        inputs, targets = torch.tensor(rows), torch.tensor(targets)
        optimizer = torch.optim.Adagrad([self.table], lr=0.15)
        order, rng = list(range(len(inputs))), random.Random(seed)
        for _ in range(epochs):
            rng.shuffle(order)
            for start in range(0, len(order), batch):
                part = order[start:start + batch]
                chances = F.log_softmax(self.logits(inputs[part]), dim=-1)
                loss = -torch.logsumexp(chances + targets[part].log(), dim=-1).mean()
                (loss + weight_decay * (self.table[inputs[part]] ** 2).sum() / len(part)).backward()
                optimizer.step()
                optimizer.zero_grad()

    def logits(self, inputs):
        return F.embedding_bag(inputs, self.table, mode="sum")

    @torch.no_grad()
    def probabilities(self, words, is_edited=True):
        """[words, labels]"""
        return torch.softmax(self.logits(torch.tensor(features(words, is_edited))), dim=-1).numpy().astype(np.float32)
