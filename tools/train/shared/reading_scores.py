"""What is said of a reader: exact match and F1, and how often it declines."""

import math
import re

from shared import reading


def without_answer(row):
    """The row with its passage less the sentences of its answers, or None if they stand elsewhere too."""
    kept, at = [], 0
    for sentence in re.split(r"(?<=[.!?])(?= )", row["context"]):
        if not any(at < start + len(text) and start < at + len(sentence) for start, text in row["answers"]):
            kept.append(sentence)
        at += len(sentence)
    context = "".join(kept).strip()
    return None if not context or any(text in context for _, text in row["answers"]) else row | {"context": context}


def declined(predictions):
    return round(100 * sum(none > 1 for _, none in predictions) / len(predictions), 1)


def measure(model, tokenizer, rows):
    """Exact match and F1, the same where it may decline, and how often it does with the passage of another row, and without the answer's sentences."""
    said = reading.predict(model, tokenizer, rows)
    swapped = [row | {"context": rows[(number + len(rows) // 2) % len(rows)]["context"]} for number, row in enumerate(rows)]
    shorter = [row for row in map(without_answer, rows) if row]
    names = ("exact", "f1", "exact where it may decline", "f1 where it may decline")
    return dict(zip(names, (round(value, 2) for limit in (math.inf, 1) for value in reading.scores(said, rows, limit)))) | {
        "declines another passage": declined(reading.predict(model, tokenizer, swapped)),
        "declines without the sentence": declined(reading.predict(model, tokenizer, shorter))}


def of_facts(model, tokenizer, rows):
    """On made-up passages: exact match where it may decline, and how often it declines where there is no answer."""
    answerable, others = [row for row in rows if row["answers"]], [row for row in rows if not row["answers"]]
    exact, _ = reading.scores(reading.predict(model, tokenizer, answerable), answerable, 1)
    return {"facts exact": round(exact, 1), "facts declined": declined(reading.predict(model, tokenizer, others))}
