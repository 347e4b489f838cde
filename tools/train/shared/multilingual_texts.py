"""What the multilingual tagger is trained on and chosen by: rounds of messages in fifteen languages, and what of held-out ones stays."""

import random
from pathlib import Path

import numpy as np

from shared.details import Details
from shared.entities import NER_SETS, ner_sentences, spans as spans_of
from shared.messages import Message, MessageMaker, RealTexts
from shared.multilingual import LABELS, TYPES, Maker, languages, prose, recased, translated_strings
from shared.redaction import hidden_flags, is_gone, outside, percent

DETAILED, ORDINARY, PROSE = 260, 340, 150  # messages of a round in every language, and unlabelled sentences
ENGLISH, ENTITIES = 500, 500  # further English messages, and sentences with marked names
NUMBERS = {label: number for number, label in enumerate(LABELS)}
MOST_STRINGS = 6000


def known_types(message):
    kept = [span for span in message.spans if span[2] in TYPES]
    return Message(message.text, kept, kept)


def marked_sentences(data_dir):
    """Messages of the English corpora of names."""
    found = []
    for name in NER_SETS:
        for sentence in ner_sentences(data_dir, name, "train"):
            ends = np.cumsum([len(word) + 1 for word in sentence.words])
            spans = [(int(ends[start] - len(sentence.words[start]) - 1), int(ends[end - 1] - 1), kind) for start, end, kind in spans_of(sentence.labels)]
            found.append(known_types(Message(" ".join(sentence.words), spans, [])))
    return found


class Texts:
    """All texts that training reads; `part` is 'train' or 'dev'."""

    def __init__(self, data_dir, translations):
        self.strings, self.prose = {}, {}
        for code in languages():
            rng = random.Random(code)
            listed = translated_strings(Path(translations), code)
            self.strings[code] = rng.sample(listed, min(len(listed), MOST_STRINGS))
            self.prose[code] = prose(Path(data_dir), code)
        self.strings["en"] = RealTexts(data_dir, "train").ordinary
        self.real, self.marked = RealTexts(data_dir, "train"), marked_sentences(data_dir)

    def for_vocabulary(self, count=3000):
        """{language: texts} of which the vocabulary is made."""
        found = {}
        for code in languages():
            maker = Maker(code, "train", random.Random(f"vocabulary {code}"))
            found[code] = [maker.detailed().text for _ in range(count)] + self.strings[code] * (1 if len(self.strings[code]) > 2500 else 3) + self.prose[code] * 3
        return found


class Rounds:
    def __init__(self, texts, seed, share):
        self.of, self.seed, self.share = texts, seed, share

    def labelled(self, number):
        rng, found = random.Random(f"{self.seed} {number}"), []
        for code in languages():
            maker = Maker(code, "train", rng, self.of.strings[code])
            found += [maker.detailed() for _ in range(int(self.share * DETAILED))] + [maker.ordinary() for _ in range(int(self.share * ORDINARY))]
        english = MessageMaker(self.of.real, Details("train", rng), rng)
        found += [known_types(english.detailed()) for _ in range(int(self.share * ENGLISH))]
        return found + [recased(one, rng) for one in rng.sample(self.of.marked, int(self.share * ENTITIES))]

    def unlabelled(self, number):
        """Sentences that nobody has marked."""
        rng, found = random.Random(f"unlabelled {self.seed} {number}"), []
        for listed in self.of.prose.values():
            found += [Message(text, [], []) for text in rng.sample(listed, min(len(listed), int(self.share * PROSE)))]
        return [recased(one, rng) for one in found]


class Judge:
    """Of held-out templates with held-out names: how many messages keep nothing private, how many ordinary ones lose something."""

    def __init__(self, tokenizer, texts, count=20):
        self.tokenizer, self.sets = tokenizer, {}
        for code in languages():
            maker = Maker(code, "dev", random.Random(f"dev {code}"), texts.strings[code])
            self.sets[code] = [maker.detailed() for _ in range(count)], [maker.ordinary() for _ in range(count)]

    def choice(self, model, limit=0.5):
        scores = {code: zero_leak(model, self.tokenizer, *pair, limit) for code, pair in self.sets.items()}
        choice = sum(whole - touched for whole, touched in scores.values()) / len(scores)
        print(f"choice {choice:.1f} (without a leak, touched):", scores, flush=True)
        return choice


def zero_leak(model, tokenizer, detailed, ordinary, limit):
    """(percent of messages of which no detail is left, percent of ordinary ones of which something is hidden)"""
    whole = []
    for message, (encoding, tokens) in zip(detailed, outside(model, tokenizer, [one.text for one in detailed])):
        flags = hidden_flags(tokens, limit)
        whole.append(all(is_gone(encoding, flags, start, end) for start, end, _ in message.slots))
    touched = [any(hidden_flags(tokens, limit)[1:-1]) for _, tokens in outside(model, tokenizer, [one.text for one in ordinary])]
    return percent(whole), percent(touched)
