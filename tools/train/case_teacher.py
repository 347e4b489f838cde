"""A tagger that sees capital letters and knows lists: logistic regression on hashed features of a word and its neighbours.

This teacher, which trains in a minute, labels plain text softly, so that the model sees many more names than the labelled sets
hold. Beside words, affixes and shapes it sees what the tagger has to learn from the text it is taught on: which words have
similar vectors (after Turian et al., 2010), lists of names (name_lists.py), and how the words of plain text were labelled by an
earlier teacher wherever they stood (after Ratinov and Roth, 2009).
"""

import random
import zlib
from collections import defaultdict

import numpy as np
import torch
from torch.nn import functional as F

from entities import LABELS, TYPES, WITHOUT_MISC

BUCKETS = 1 << 20
EDITED = ("wikigold",)  # sets of edited text; the others are tweets and other posts, whose capitals mean less
KINDS = ("O", *TYPES)
KIND_OF = np.array([KINDS.index(label[2:]) if label[2:] in TYPES else 0 for label in LABELS])
LONGEST = 5  # words of a listed name that is looked for


def shape(word):
    """'Lindqvist' is Xx, 'U.S.' is X.X., '1984' is 0; runs are written once."""
    classes = ["X" if c.isupper() else "x" if c.islower() else "0" if c.isdigit() else c for c in word]
    return "".join(c for index, c in enumerate(classes) if index == 0 or classes[index - 1] != c)[:6]


class Knowledge:
    """What a word is like: clusters by its vector, and by lists; and the kinds it mostly had in labelled plain text."""

    def __init__(self, vocab=None, vectors=None, names=None):
        self.cluster, self.listed, self.parts, self.kinds = {}, {}, {}, {}
        if vectors is not None:
            words = [word for word in vocab if not word.startswith(("##", "["))]
            unit = vectors[[vocab[word] for word in words]]
            unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
            marks = [clusters(unit, count) for count in (48, 400)]
            self.cluster = {word: f"{a}|{b}" for word, a, b in zip(words, *marks)}
        for kind, some in (names or {}).items():
            for words in some:
                lower = tuple(word.lower() for word in words)
                self.listed[lower] = kind if self.listed.get(lower, kind) == kind else "?"
                if kind == "PER" and len(words) == 2:
                    self.parts[words[0]], self.parts[words[1]] = "first", self.parts.get(words[1], "last")

    def learn(self, sentences, probabilities, least=3):
        """Kinds of words, from soft labels of sentences of plain text; first words of sentences are not counted."""
        sums, counts = defaultdict(lambda: np.zeros(len(KINDS))), defaultdict(int)
        for words, chances in zip(sentences, probabilities):
            by_kind = np.zeros((len(words), len(KINDS)))
            np.add.at(by_kind.T, KIND_OF, chances.T)
            for index, word in enumerate(words[1:], 1):
                if word[0].isupper():
                    sums[word] += by_kind[index]
                    counts[word] += 1
        for word, total in sums.items():
            share = total / counts[word]
            best = int(share.argmax())
            if counts[word] >= least and share[best] > 0.45:
                self.kinds[word] = f"{KINDS[best]}{'+' if share[best] > 0.75 else ''}"

    def lists(self, words):
        """For every word the kind of the longest listed name that it is in, with its place."""
        lower, marks, at = [word.lower() for word in words], ["-"] * len(words), 0
        while at < len(words):
            for end in range(min(len(words), at + LONGEST), at, -1):
                kind = self.listed.get(tuple(lower[at:end]))
                if kind and any(word[0].isupper() for word in words[at:end]):
                    marks[at:end] = [f"B{kind}{min(end - at, 3)}"] + [f"I{kind}{min(end - at, 3)}"] * (end - at - 1)
                    at = end - 1
                    break
            at += 1
        return marks


def clusters(unit, count, rounds=12, seed=1):
    """k-means of unit vectors by cosine."""
    centres = unit[np.random.default_rng(seed).permutation(len(unit))[:count]]
    for _ in range(rounds):
        nearest = (unit @ centres.T).argmax(1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, unit)
        centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return nearest


def features(words, is_edited, knowledge):
    """[words, features] bucket numbers, alone and together with the kind of text (Daume III, 2007)."""
    padded = ["<s>", "<s>", *words, "</s>", "</s>"]
    lower, shapes = [word.lower() for word in padded], [shape(word) for word in padded]
    near = [knowledge.cluster.get(word) or knowledge.cluster.get(low, "-|-") for word, low in zip(padded, lower)]
    wide = [pair.split("|")[0] for pair in near]
    lists = ["-", "-", *knowledge.lists(words), "-", "-"]
    kinds = [knowledge.kinds.get(word, "-") for word in padded]
    parts = [knowledge.parts.get(word, "-") for word in padded]
    loud = not any(c.islower() for word in words for c in word)
    rows = []
    for i in range(2, len(padded) - 2):
        row = [f"{at}w{lower[i + at]}" for at in range(-2, 3)] + [f"{at}s{shapes[i + at]}" for at in range(-2, 3)]
        row += [f"p{lower[i][:n]}" for n in (2, 3, 4)] + [f"q{lower[i][-n:]}" for n in (2, 3, 4)]
        row += [f"c{padded[i]}", f"f{shapes[i]}{i == 2}{loud}", f"a{shapes[i - 1]} {shapes[i]} {shapes[i + 1]}",
                f"b{lower[i - 1]} {lower[i]}", f"d{lower[i]} {lower[i + 1]}", f"e{lower[i - 1]} {shapes[i]}",
                f"g{shapes[i]} {lower[i + 1]}", f"h{lower[i - 2]} {lower[i - 1]} {shapes[i]}"]
        row += [f"{at}k{near[i + at]}" for at in (-1, 0, 1)] + [f"{at}K{wide[i + at]}" for at in (-2, -1, 0, 1, 2)]
        row += [f"m{wide[i - 1]} {shapes[i]}", f"n{shapes[i]} {wide[i + 1]}", f"o{wide[i]}{shapes[i]}"]
        row += [f"{at}l{lists[i + at]}" for at in (-1, 0, 1)] + [f"L{lists[i]}{shapes[i]}{i == 2}"]
        row += [f"{at}t{kinds[i + at]}{shapes[i + at]}" for at in (-2, -1, 0, 1, 2)] + [f"T{kinds[i - 1]} {kinds[i]} {kinds[i + 1]}"]
        row += [f"P{parts[i - 1]} {parts[i]} {parts[i + 1]}"]
        rows.append([zlib.crc32(feature.encode("utf-8")) for feature in row])
    plain = np.array(rows, dtype=np.int64)
    return np.concatenate([plain, plain * 2654435761 + 97 + is_edited], axis=1) % BUCKETS


def allowed(label, name):
    """1 for every label that the annotation leaves possible."""
    possible = {"O", "B-MISC", "I-MISC"} if label == "O" and name in WITHOUT_MISC else {label}
    return [float(other in possible) for other in LABELS]


def transitions(sentences, weight=0.6):
    """[labels, labels]: how much a label speaks for its successor, tempered; 0 where it can't follow (an I- of another type)."""
    counts = np.full((len(LABELS), len(LABELS)), 0.05)
    for sentence in sentences:
        numbers = [0, *(LABELS.index(label or "O") for label in sentence.labels), 0]
        np.add.at(counts, (numbers[:-1], numbers[1:]), 1)
    for a, before in enumerate(LABELS):
        for b, label in enumerate(LABELS):
            if label[0] == "I" and before[2:] != label[2:]:
                counts[a, b] = 0
    lifts = counts / counts.sum(1, keepdims=True) / (counts.sum(0) / counts.sum())
    return np.where(lifts > 0, np.maximum(lifts, 1e-9) ** weight, 0)


def marginals(alone, steps):
    """Forward and backward over a sentence, from chances of each word alone."""
    forward, backward = np.zeros_like(alone), np.ones_like(alone)
    before = np.eye(len(steps))[0]
    for i, chances in enumerate(alone):
        forward[i] = before @ steps * chances
        forward[i] /= forward[i].sum()
        before = forward[i]
    for i in range(len(alone) - 2, -1, -1):
        backward[i] = steps @ (alone[i + 1] * backward[i + 1])
        backward[i] /= backward[i].sum()
    both = forward * backward
    return both / both.sum(1, keepdims=True)


class CaseTeacher:
    def __init__(self, sentences, knowledge, epochs=4, batch=512, weight_decay=2e-5, unknown=0.25, seed=1):
        """`sentences` is a list of (Sentence, name of its set). A word's features are left out one by one with the chance `unknown`,
        so that its surroundings are learnt too."""
        torch.manual_seed(seed)
        self.knowledge, self.steps = knowledge, transitions([sentence for sentence, _ in sentences])
        self.table = torch.zeros(BUCKETS, len(LABELS), requires_grad=True)
        rows, targets = [], []
        for sentence, name in sentences:
            known = [label is not None for label in sentence.labels]
            rows.append(features(sentence.words, name in EDITED, knowledge)[known])
            targets += [allowed(label, name) for label in sentence.labels if label is not None]
        if not rows:
            return
        inputs, targets = torch.from_numpy(np.concatenate(rows)), torch.tensor(targets)
        optimizer = torch.optim.Adagrad([self.table], lr=0.15)
        order, rng = list(range(len(inputs))), random.Random(seed)
        for _ in range(epochs):
            rng.shuffle(order)
            for start in range(0, len(order), batch):
                part = order[start:start + batch]
                weights = F.embedding(inputs[part], self.table, sparse=True)
                kept = (torch.rand(inputs[part].shape) >= unknown) / (1 - unknown)
                chances = F.log_softmax((weights * kept[..., None]).sum(1), dim=-1)
                loss = -torch.logsumexp(chances + targets[part].log(), dim=-1).mean()
                (loss + weight_decay * (weights ** 2).sum() / len(part)).backward()
                optimizer.step()
                optimizer.zero_grad()

    @torch.no_grad()
    def probabilities(self, words, is_edited=True):
        """[words, labels]: chances given the whole sentence."""
        rows = torch.from_numpy(features(words, is_edited, self.knowledge))
        alone = torch.softmax(F.embedding_bag(rows, self.table, mode="sum"), dim=-1).double().numpy()
        return marginals(alone, self.steps).astype(np.float32)
