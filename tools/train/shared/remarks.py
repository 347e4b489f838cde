"""Everyday remarks with what they say: pleased (1), not pleased (0), or neither (0.5); a grammar of templates with lists of words.

The grammar could say some of the remarks that measure the model ("not bad at all"): it leaves these out.
"""

import re

from shared.templates import MODELS, expanded, is_held_out, single_spaced, template_lines, word_lists

WORD = re.compile(r"\{(\w+)\}")
VALUES = {"+": 1.0, "-": 0.0, "0": 0.5}


def everyday_rows():
    lines = (MODELS / "everyday_remarks.tsv").read_text(encoding="utf-8").splitlines()
    return [(int(label), text) for label, text in (line.split("\t") for line in lines if not line.startswith("#"))]


def words_of(text):
    return re.sub(r"[^a-z]+", " ", text.lower()).strip()


class RemarkMaker:
    def __init__(self, part, rng):
        """`part`: 'train' or 'dev', the templates that are held out."""
        rows = [(VALUES[line[0]], line[2:]) for line in template_lines("remarks.txt")]
        self.rows = [row for row in rows if is_held_out(row[1]) == (part == "dev")]
        self.by_value = {value: [text for other, text in self.rows if other == value] for value in VALUES.values()}
        self.rng, self.words, self.measured = rng, word_lists("remarks.txt"), {words_of(text) for _, text in everyday_rows()}
        self.before, self.after = ([one.replace("_", " ") for one in self.words[name]] for name in ("before", "after"))

    def filled(self, template):
        text = single_spaced(WORD.sub(lambda match: self.rng.choice(self.words[match[1]]), expanded(template, self.rng)))
        return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)

    def plain(self, value):
        while True:
            text = self.filled(self.rng.choice(self.by_value[value]))
            if words_of(text) not in self.measured:
                return text

    def remark(self):
        rng = self.rng
        value = rng.choices((1.0, 0.0, 0.5), (0.44, 0.44, 0.12 if self.by_value[0.5] else 0.0))[0]
        text = self.plain(value)
        text = text[:1].upper() + text[1:]
        if rng.random() < 0.15:
            text = rng.choice(self.before) + text[:1].lower() + text[1:]
        chance = rng.random()
        if chance < 0.2:
            text = text.rstrip(".")
        elif chance < 0.3:
            text = text.rstrip(".!") + rng.choice(self.after[:3] if value == 0.5 else self.after if value else [mark for mark in self.after if mark != " :)"])
            text = text if value != 1.0 else text.replace(" :(", " :)")
        if rng.random() < 0.3:
            other = self.plain(value if rng.random() < 0.8 or not self.by_value[0.5] else 0.5)
            text = text.rstrip(", ") + ("" if text[-1:] in ".!?" else ".") + " " + other[:1].upper() + other[1:]
        if rng.random() < 0.1:
            text = text.replace("'", "")
        return value, text
