"""What the sentiment classifier learns from: labelled texts of four kinds, and sentences for its teacher to label, varied."""

import re

from splits import reader_rows
from texts import SENTIMENT_SETS, open_text, sentiment_rows

POSITIVE = {"admiration", "amusement", "approval", "caring", "excitement", "gratitude", "joy", "love", "optimism", "pride",
            "relief"}
NEGATIVE = {"anger", "annoyance", "disappointment", "disapproval", "disgust", "embarrassment", "fear", "grief", "nervousness",
            "remorse", "sadness"}


def sentences(text):
    found = [part.strip() for part in re.split(r"(?<=[.!?])\s+", text)]
    return [part for part in found if 6 <= part.count(" ") < 60]


def feelings(data_dir):
    """GoEmotions comments whose feelings are all pleasant (1) or all unpleasant (0)."""
    folder = data_dir / "classification"
    with open_text(folder / "goemotions-labels.txt") as file:
        names = file.read().split()
    rows = []
    with open_text(folder / "goemotions-train.tsv.gz") as file:
        for line in file:
            text, numbers, _ = line.rstrip("\n").split("\t")
            named = {names[int(number)] for number in numbers.split(",")}
            if bool(named & POSITIVE) != bool(named & NEGATIVE):
                rows.append((int(bool(named & POSITIVE)), text))
    return rows


def labelled_rows(data_dir):
    """{set: [(label, text)]} of the training parts."""
    return {name: sentiment_rows(data_dir, name, "train") for name in SENTIMENT_SETS} | {"feelings": feelings(data_dir)}


def review_sentences(rows):
    """Sentences of whole reviews with the label of the review."""
    return [(label, sentence) for label, text in rows for sentence in sentences(text)]


def product_sentences(data_dir):
    contexts = {row["context"]: None for row in reader_rows(data_dir, "train")["amazon-reviews"]}
    return [sentence for context in contexts for sentence in sentences(context)]


def varied(text, others, rng):
    """The text, or one like it: words left out, a part of it, or a part of it before a part of another."""
    words, kind = text.split(" "), rng.random()
    if kind < 0.3 or len(words) < 4:
        return text
    if kind < 0.5:
        return " ".join(word for word in words if rng.random() > 0.2) or text
    if kind < 0.65:
        length = rng.randint(max(3, len(words) // 3), len(words))
        start = rng.randint(0, len(words) - length)
        return " ".join(words[start:start + length])
    other = rng.choice(others).split(" ")
    return " ".join(words[:rng.randint(2, len(words))] + other[rng.randint(0, max(0, len(other) - 3)):])
