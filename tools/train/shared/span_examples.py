"""Span-selection examples as token ids: a question, a context and the answer spans inside the context."""

from dataclasses import dataclass

import numpy as np

NO_ANSWER = [(-1, -1)]
SOURCES = ("real", "sentence", "facts", "recurring")  # of the examples of reader_examples.py
LONGEST = 640  # tokens of a passage that these look at


@dataclass
class Example:
    question: np.ndarray  # uint16 ids
    context: np.ndarray  # uint16 ids
    answers: list  # (first, last) token of the context, inclusive


def token_span(offsets, start, end):
    """First and last token that cover the characters [start, end), or None."""
    inside = [i for i, (a, b) in enumerate(offsets) if a < end and b > start]
    return (inside[0], inside[-1]) if inside else None


def encode_rows(tokenizer, rows):
    """Examples of SQuAD-schema rows; rows whose answers do not map to tokens are left out, those without answers have NO_ANSWER."""
    contexts = list({row["context"]: None for row in rows})
    encoded = dict(zip(contexts, tokenizer.encode_batch(contexts, add_special_tokens=False)))
    questions = tokenizer.encode_batch([row["question"].strip() for row in rows], add_special_tokens=False)
    examples = []
    for row, question in zip(rows, questions):
        context = encoded[row["context"]]
        spans = [token_span(context.offsets, start, start + len(text)) for start, text in row["answers"]]
        spans = [span for span in spans if span] if row["answers"] else NO_ANSWER
        if spans:
            examples.append(Example(np.array(question.ids, np.uint16), np.array(context.ids, np.uint16), spans))
    return examples


def assemble(example, answer, window, max_length, cls_id, sep_id):
    """[CLS] question [SEP] part of the context [SEP], and the answer's (first, last) position in it.

    `window` is the first context token shown. Without an answer in the window both positions are 0, [CLS].
    """
    question = example.question[:max_length // 3]
    room = max_length - len(question) - 3
    part = example.context[window:window + room]
    ids = np.concatenate([[cls_id], question, [sep_id], part, [sep_id]]).astype(np.int64)
    base = len(question) + 2
    first, last = answer[0] - window, answer[1] - window
    if first < 0 or last >= len(part):
        return ids, (0, 0)
    return ids, (first + base, last + base)
