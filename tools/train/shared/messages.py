"""Texts for the tagger as people write them: templates and real sentences filled with made-up details, and ordinary text without any.

A message is a text with spans (first character, one past the last, type). Templates are in models/training/messages.txt; real sentences get
names in the place of "[NAME]" (GoEmotions), of pronouns and of words such as "my boss", and in the slots of Snips and Restaurant8k.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from shared.date_rules import DAYS, MONTHS, with_details
from shared.details import KIND_OF, PLAIN_WORDS, name_words
from shared.entities import Sentence, spans as spans_of
from shared.templates import bucket, expanded, template_lines, word_lists
from shared.texts import emotion_rows, intent_rows, open_text, passages, read_lines, sentences

SLOT = re.compile(r"\{(\w+)\}")
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
NOT_PLAIN = re.compile(r"\[|http|www\.|@|\.com|\.org|#|\{|\}|\d{5}|>|\bu/|\br/")
PLACED = [(re.compile(pattern, re.I), text) for pattern, text in (line.split(" => ") for line in template_lines("placed.txt"))]
RULE_WORD = re.compile(r"[\w$£€]+(?:[.,/:'-]\w+)*|[^\w\s]")
CALENDAR = {name.lower(): name for name in DAYS + MONTHS if name not in ("March", "May", "August")}
SNIPS = {"artist": "FULL", "city": "CITY", "country": "COUNTRY", "state": "CITY", "restaurant_name": "ORG"}


@dataclass
class Message:
    text: str
    spans: list  # (start, end, type)
    slots: list  # (start, end, slot): what the spans are made of, for measuring


def templates(part):
    return [line for line in template_lines("messages.txt") if {0: "dev", 1: "test"}.get(bucket(line, 12), "train") == part]


def ending_parts(part):
    """Returns (lines, words) of endings.txt for one part, 'train' or 'dev'."""
    def kept(listed, count):
        return [one for one in listed if (bucket(one, count) == 0) == (part == "dev")]

    return kept(template_lines("endings.txt"), 8), kept(word_lists("endings.txt")["words"], 6)


def expand(template, rng):
    return expanded(template, rng).replace(",?", rng.choice([",", ""])).replace(":?", rng.choice([":", ""]))


def filled(template, details, body=None):
    """A message: every slot of the template with a detail in it; {BODY} with an ordinary text."""
    text, spans, slots, at, wanted = "", [], [], 0, None
    for match in SLOT.finditer(template):
        text += template[at:match.start()]
        at, slot = match.end(), match[1]
        if slot == "BODY":
            inner = body()
            spans += [(start + len(text), end + len(text), kind) for start, end, kind in inner.spans]
            text += inner.text
            continue
        if slot == "NAME":
            wanted = wanted or details.rng.choice(["FIRST", "FIRST", "FIRST", "FULL", "LAST"])
            slot = wanted
        value = getattr(details, slot.lower())()
        if KIND_OF[slot]:
            spans.append((len(text), len(text) + len(value), KIND_OF[slot]))
            slots.append((len(text), len(text) + len(value), slot))
        text += value
    return Message(text + template[at:], spans, slots)


def recased(message, rng, chances=(0.54, 0.22, 0.10, 0.05, 0.06, 0.03)):
    """The message as it is, in small letters, in capitals, with every word or only its details' first letters changed."""
    text, kind = message.text, rng.choices(range(6), chances)[0]
    if kind == 1:
        text = text.lower()
    elif kind == 2:
        text = text.upper()
    elif kind == 3:
        text = re.sub(r"(?<![\w'’])[a-z]", lambda match: match[0].upper(), text)
    elif kind == 4:
        for start, end, _ in message.spans:
            text = text[:start] + text[start:end].lower() + text[end:]
    elif kind == 5:
        text = text[:1].lower() + text[1:]
    return message if len(text) != len(message.text) else Message(text, message.spans, message.slots)


def with_dates(text):
    found = list(RULE_WORD.finditer(text))
    words = [CALENDAR.get(match[0], match[0]) for match in found]
    marked = spans_of(with_details(Sentence(words, ["O"] * len(words))).labels)
    return Message(text, [(found[start].start(), found[end - 1].end(), kind) for start, end, kind in marked], [])


def joined(messages, space):
    text, spans, slots = "", [], []
    for message in messages:
        text += space if text else ""
        spans += [(start + len(text), end + len(text), kind) for start, end, kind in message.spans]
        slots += [(start + len(text), end + len(text), kind) for start, end, kind in message.slots]
        text += message.text
    return Message(text, spans, slots)


class RealTexts:
    """Sentences of the data sets: `ordinary` ones without names, and `slotted` ones with slots, of the part 'train' or 'dev'."""

    def __init__(self, data_dir, part):
        self.folder, self.part = Path(data_dir), part
        emotions = [text.replace('""', '"').strip('"') for text, _ in emotion_rows(data_dir, part)]
        queries = [text for text, _ in intent_rows(data_dir, part)]
        prose = [one for passage in passages(data_dir, part) for one in sentences(passage, 1, 45)]
        if part == "train":
            classified = self.folder / "classification"
            queries += [line.split("\t")[1] for line in read_lines(classified / "banking77-train.tsv.gz")]
            queries += [line.split("\t")[1] for line in read_lines(classified / "pros-cons-train.tsv.gz")][::6]
        self.common = self.common_words(emotions + prose)
        self.names = {word for word in name_words() if word not in self.common} - PLAIN_WORDS
        comments = [one for text in emotions if "[" not in text for one in [text, *sentences(text, 1, 45)]]
        self.ordinary = [text for text in dict.fromkeys(comments + queries + prose) if self.is_ordinary(text)]
        self.slotted = [*self.named_comments(emotions), *self.placed(self.ordinary), *self.snips(), *self.bookings()]

    @staticmethod
    def common_words(texts):
        counts = Counter(word for text in texts for word in WORD.findall(text) if word.islower())
        return {word for word, count in counts.items() if count >= 3}

    def is_common(self, word):
        """Whether a word with a capital is no name, because it is often written small, or is a number or a shout of common words."""
        plain = re.split(r"['’]", word.lower())[0]
        return plain in self.common or plain in ("i", "ok", "tv", "usb", "lol", "omg", "dvd", "pc", "atm", "pin", "wtf") or len(plain) == 1

    def is_ordinary(self, text):
        words = WORD.findall(text)
        if not 2 <= len(words) <= 45 or NOT_PLAIN.search(text) or not text.isprintable():
            return False
        return all((self.is_common(word) if not word.islower() else word.split("'")[0] not in self.names) for word in words)

    def named_comments(self, emotions):
        for text in emotions:
            if "[NAME]" in text and "[RELIGION]" not in text:
                for one in sentences(text, 1, 45) or [text]:
                    if "[NAME]" in one and self.is_ordinary(one.replace("[NAME]", "they")):
                        yield one.replace("[NAME]", "{NAME}")

    @staticmethod
    def placed(texts):
        for text in texts:
            found = [(pattern, replacement) for pattern, replacement in PLACED if pattern.search(text)]
            for pattern, replacement in found:
                yield pattern.sub(replacement, text, count=1)

    def snips(self):
        if self.part != "train":
            return
        for row in map(json.loads, read_lines(self.folder / "classification" / "snips-train.jsonl.gz")):
            text, wanted = row["text"].strip(), False
            for start, end, slot in sorted(row["slots"], reverse=True):
                if slot in SNIPS:
                    text, wanted = text[:start] + "{" + SNIPS[slot] + "}" + text[end:], True
            if wanted and self.is_ordinary(SLOT.sub("they", text)):
                yield text

    def bookings(self):
        if self.part != "train":
            return
        with open_text(self.folder / "ner" / "restaurant8k-train.json.gz") as file:
            rows = json.load(file)
        for row in rows:
            text, names = row["userInput"]["text"], 0
            for label in sorted(row.get("labels", []), key=lambda one: -one["valueSpan"].get("startIndex", 0)):
                slot, span = label["slot"].removesuffix("_name").upper(), label["valueSpan"]
                if slot in ("FIRST", "LAST"):
                    text, names = text[:span.get("startIndex", 0)] + "{" + slot + "}" + text[span["endIndex"]:], names + 1
            if names and self.is_ordinary(SLOT.sub("they", text) + " they"):
                yield text


class MessageMaker:

    def __init__(self, real, details, rng):
        self.real, self.details, self.rng = real, details, rng
        self.templates = templates(real.part)
        self.endings, self.last_words = ending_parts(real.part)

    def body(self):
        return with_dates(self.rng.choice(self.real.ordinary))

    def ordinary(self):
        rng = self.rng
        return self.ended(joined([self.body() for _ in range(rng.choice((1, 1, 1, 2, 3)))], " "))

    def from_template(self):
        return filled(expand(self.rng.choice(self.templates), self.rng), self.details, self.body)

    def from_real(self):
        return filled(self.rng.choice(self.real.slotted), self.details)

    def ending(self):
        """Returns a message in which a word follows a detail and is no part of it."""
        template = expand(self.rng.choice(self.endings), self.rng).replace("{WORD}", self.rng.choice(self.last_words))
        return self.ended(filled(template, self.details, self.body))

    def ended(self, message):
        """Sometimes without its last point, or with line breaks; the letters' case changed."""
        if self.rng.random() < 0.15 and message.text.endswith("."):
            message = Message(message.text[:-1], message.spans, message.slots)
        return recased(message, self.rng)

    def detailed(self):
        rng = self.rng
        first = self.from_template() if rng.random() < 0.6 else self.from_real()
        parts = [first]
        while rng.random() < 0.3 and len(parts) < 4:
            one = rng.random()
            other = self.body() if one < 0.6 else self.from_template() if one < 0.8 else self.from_real()
            parts.insert(rng.randint(0, len(parts)), other)
        return self.ended(joined(parts, rng.choice([" ", " ", " ", "\n", ". " if len(parts) > 1 else " "])))
