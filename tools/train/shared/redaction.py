"""What of private details a tagger hides: held-out messages, and the messages of models/everyday_messages.txt.

A token is hidden if its best label is not O or, with a threshold, if the chance of O is below it; a detail if all its tokens are.
"""

import random
import re

import torch

from shared.details import Details
from shared.messages import MessageMaker, RealTexts
from shared.templates import MODELS
from shared.training import equal_length_batches

LIMITS = (None, 0.7, 0.8, 0.9)  # None: the best label decides


@torch.no_grad()
def outside(model, tokenizer, texts):
    """Returns for every text its encoding and, for each token, the probability of O and whether O is the best label."""
    model.eval()
    encodings = tokenizer.encode_batch(texts)
    result = [None] * len(texts)
    for batch in equal_length_batches([(encoding.ids,) for encoding in encodings], 8192, 128):
        chances = torch.softmax(model(input_ids=torch.tensor([encodings[i].ids for i in batch])).logits, -1)
        rows = zip(chances[..., 0].tolist(), (chances.argmax(-1) == 0).tolist())
        for index, (chance, best) in zip(batch, rows):
            result[index] = encodings[index], list(zip(chance, best))
    return result


def hidden_flags(tokens, limit):
    return [not best if limit is None else chance < limit for chance, best in tokens]


def is_gone(encoding, flags, start, end):
    return all(flag for (a, b), flag in zip(encoding.offsets, flags) if a < end and b > start)


def percent(flags):
    return round(100 * sum(flags) / max(len(flags), 1), 1)


class HeldOut:
    """Messages of held-out templates and sentences, with held-out names ('new') and with others ('known'), and ordinary ones."""

    def __init__(self, data_dir, count=500, seed=5):
        real = RealTexts(data_dir, "dev")
        self.sets = {}
        for name, part in (("new", "dev"), ("known", "train")):
            rng = random.Random(seed)
            maker = MessageMaker(real, Details(part, rng), rng)
            self.sets[name] = [maker.detailed() for _ in range(count)]
        rng = random.Random(seed)
        maker = MessageMaker(real, Details("dev", rng), rng)
        self.ordinary = [one for one in (maker.ordinary() for _ in range(3 * count)) if not one.spans][:2 * count]
        self.endings = [maker.ending() for _ in range(2 * count)]

    def measure(self, model, tokenizer):
        found = {limit: {} for limit in LIMITS}
        for name, messages in self.sets.items():
            read = outside(model, tokenizer, [message.text for message in messages])
            for limit in LIMITS:
                counts = recall(messages, read, limit)
                found[limit] |= {f"{name} {what}": percent(flags) for what, flags in sorted(counts.items())}
        ordinary, endings = (outside(model, tokenizer, [message.text for message in messages]) for messages in (self.ordinary, self.endings))
        for limit in LIMITS:
            found[limit] |= false_alarms(ordinary, limit) | endings_marked(self.endings, endings, limit)
        return found


def recall(messages, read, limit):
    """{slot, or "zero-leak" for whole messages: whether each is hidden}"""
    counts = {"zero-leak": []}
    for message, (encoding, tokens) in zip(messages, read):
        flags, whole = hidden_flags(tokens, limit), True
        for start, end, slot in message.slots:
            gone = is_gone(encoding, flags, start, end)
            whole &= gone
            counts.setdefault(slot, []).append(gone)
            if slot in ("FIRST", "FULL") and message.text[start:end].islower():
                counts.setdefault(f"{slot} lower", []).append(gone)
        counts["zero-leak"].append(whole)
    return counts


def false_alarms(read, limit):
    flags = [hidden_flags(tokens, limit)[1:-1] for _, tokens in read]
    return {"false tokens": percent([flag for row in flags for flag in row]), "touched": percent([any(row) for row in flags])}


def endings_marked(messages, read, limit):
    """Returns the percentage of details that are hidden, and of the words after them that are marked."""
    gone, marked = [], []
    for message, (encoding, tokens) in zip(messages, read):
        flags = hidden_flags(tokens, limit)
        for start, end, _ in message.slots:
            gone.append(is_gone(encoding, flags, start, end))
            after = re.match(r"[ ,]+(\w+)", message.text[end:])
            if after and not any(a <= end + after.start(1) < b for a, b, _ in message.spans):
                marked.append(is_gone(encoding, flags, end + after.start(1), end + after.end(1)))
    return {"before a word": percent(gone), "word marked": percent(marked)}


def everyday_cases():
    """{section: [(text, name)]}: every message with four of its section's names; ordinary ones with None."""
    cases, names, number = {}, [], 0
    for line in (MODELS / "everyday_messages.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            section, names, number = line[2:], [], 0
            cases[section] = []
        elif line.startswith("> "):
            if names:
                chosen = [names[(number * 7 + turn * 11) % len(names)] for turn in range(4)]
                cases[section] += [(line[2:].format(name), name) for name in chosen]
            else:
                cases[section].append((line[2:], None))
            number += 1
        elif line and not line.startswith("#"):
            names += line.split("|") if section == "full names" else line.split()
    return cases


def everyday(model, tokenizer):
    """{section: {threshold: percent hidden}}, also with all letters small or large; {section: what is missed or marked wrongly}."""
    cases = everyday_cases()
    for section in ("first names", "full names"):
        cases[f"{section}, small"] = [(text.lower(), name.lower()) for text, name in cases[section]]
        cases[f"{section}, capitals"] = [(text.upper(), name.upper()) for text, name in cases[section]]
    scores, wrong = {}, {}
    for section, rows in cases.items():
        read = outside(model, tokenizer, [text for text, _ in rows])
        if section == "ordinary":
            scores[section] = {str(limit): false_alarms(read, limit) for limit in LIMITS}
            wrong[section] = [text for (text, _), (_, tokens) in zip(rows, read) if any(hidden_flags(tokens, None)[1:-1])]
            continue
        gone = {limit: [is_gone(encoding, hidden_flags(tokens, limit), text.index(name), text.index(name) + len(name))
                        for (text, name), (encoding, tokens) in zip(rows, read)] for limit in LIMITS}
        scores[section] = {str(limit): percent(flags) for limit, flags in gone.items()}
        wrong[section] = [text for (text, _), flag in zip(rows, gone[None]) if not flag]
    return scores, wrong
