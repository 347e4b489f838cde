"""Everyday messages with the labels that people sort them by: spam, urgency, topic, feeling, intent."""

import random
from dataclasses import dataclass

from shared.facts import Words
from shared.templates import MODELS, is_held_out, template_lines, word_lists

DIMENSIONS = ("spam", "urgent", "topic", "feeling", "intent")


@dataclass
class Message:
    text: str
    labels: dict  # dimension -> key of its label


def everyday_rows():
    """(text, labels to choose from, the right one) of the messages that measure the model."""
    lines = (MODELS / "everyday_sorting.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return [(text, labels.split("; "), label) for text, labels, label in rows]


def read_templates():
    """([({dimension: key}, template)], {dimension: {key: names}})"""
    rows, names = [], {}
    for line in template_lines("sorting.txt"):
        first, _, rest = line.partition(" ")
        if first in DIMENSIONS:
            key, _, listed = rest.partition(" ")
            names.setdefault(first, {})[key] = listed.split("; ")
        else:
            *keys, template = line.split(" ", len(DIMENSIONS))
            rows.append(({name: key for name, key in zip(DIMENSIONS, keys) if key != "-"}, template))
    return rows, names


class SortingMaker:
    """Draws messages; `part` 'dev' draws those of templates that are held out."""

    def __init__(self, part, rng):
        rows, self.names = read_templates()
        self.rows = [row for row in rows if is_held_out(row[1]) == (part == "dev")]
        self.rng, self.words, self.around = rng, Words(rng), word_lists("sorting.txt")
        self.by_label = {name: {} for name in DIMENSIONS}
        for row in self.rows:
            for name, key in row[0].items():
                self.by_label[name].setdefault(key, []).append(row)

    def message(self, name=None):
        """A message; if a dimension is named, one that has a label of it, each label with the same chance."""
        rng = self.rng
        labels, template = rng.choice(self.by_label[name][rng.choice(list(self.by_label[name]))] if name else self.rows)
        text = self.words.filled(template, {})
        if labels.get("spam") == "n":
            if rng.random() < 0.12:
                text = f"{self.words.filled(rng.choice(self.around['before']), {})} {text}"
            if rng.random() < 0.1:
                text = text + (" " if text[-1] in ".!?" else ". ") + self.words.filled(rng.choice(self.around['after']), {})
        if rng.random() < 0.2:
            text = text.replace("'", "").rstrip(".!")
        return Message(text, labels)


def held_out_messages(count):
    """{dimension: messages of held-out templates that have a label of it}"""
    maker = SortingMaker("dev", random.Random(5))
    return {name: [maker.message(name) for _ in range(count)] for name in DIMENSIONS}, maker.names
