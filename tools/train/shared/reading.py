"""Answers of the reader and their scores, by the rules of the reference question-answering pipeline.

One rule is left out: the pipeline adds up the scores of equal answers, here the single best span wins.
"""

import collections
import math
import re
import string

import numpy as np
import torch

from shared.training import padded

MAX_ANSWER_TOKENS = 15


def windows(tokenizer, question, context, max_length, stride):
    """Encodings of all windows of one pair; `stride` is the overlap in tokens."""
    tokenizer.enable_truncation(max_length, stride=stride, strategy="only_second")
    encoding = tokenizer.encode(question, context)
    tokenizer.no_truncation()
    return [encoding, *encoding.overflowing]


def best_span(start_logits, end_logits, encoding):
    """(score, start, end, score of no answer) of the best span in one window, in characters."""
    allowed = np.array([s == 1 for s in encoding.sequence_ids])
    allowed[0] = True

    def probabilities(logits):
        logits = np.where(allowed, logits, -10000.0)
        exponentials = np.exp(logits - logits.max())
        return exponentials / exponentials.sum()

    starts, ends = probabilities(start_logits), probabilities(end_logits)
    none = float(starts[0] * ends[0])
    starts[0] = ends[0] = 0.0
    scores = np.tril(np.triu(np.outer(starts, ends)), MAX_ANSWER_TOKENS - 1)
    first, last = np.unravel_index(scores.argmax(), scores.shape)
    if not (allowed[first] and allowed[last]) or first == 0:
        return 0.0, 0, 0, none
    words, offsets = encoding.word_ids, encoding.offsets
    inside = [i for i, s in enumerate(encoding.sequence_ids) if s == 1]
    start = min(offsets[i][0] for i in inside if words[i] == words[first])
    end = max(offsets[i][1] for i in inside if words[i] == words[last])
    return float(scores[first, last]), start, end, none


@torch.no_grad()
def predict(model, tokenizer, rows, max_length=384, stride=128, batch_tokens=8192):
    """(best answer, score of no answer by that of the answer) for every row. Batches are padded, which changes nothing for DeBERTa."""
    model.eval()
    jobs = [(number, encoding) for number, row in enumerate(rows)
            for encoding in windows(tokenizer, row["question"], row["context"], max_length, stride)]
    jobs.sort(key=lambda job: len(job[1].ids))
    best, least_none = [(-1.0, "")] * len(rows), [1.0] * len(rows)
    while jobs:
        size = max(1, batch_tokens // len(jobs[-1][1].ids))
        batch, jobs = jobs[-size:], jobs[:-size]
        output = model(**padded([encoding.ids for _, encoding in batch], [encoding.sequence_ids.index(1) for _, encoding in batch]))
        for (number, encoding), s, e in zip(batch, output.start_logits.float().numpy(), output.end_logits.float().numpy()):
            length = len(encoding.ids)
            score, start, end, none = best_span(s[:length], e[:length], encoding)
            least_none[number] = min(least_none[number], none)
            if score > best[number][0]:
                best[number] = (score, rows[number]["context"][start:end])
    return [(text, none / max(score, 1e-12)) for (score, text), none in zip(best, least_none)]


def normalise(text):
    """Normalisation of the official SQuAD evaluation."""
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def exact_and_f1(prediction, golds):
    def f1(gold):
        a, b = normalise(prediction).split(), normalise(gold).split()
        same = sum((collections.Counter(a) & collections.Counter(b)).values())
        return 2 * same / (len(a) + len(b)) if same else float(a == b)

    exact = max(float(normalise(prediction) == normalise(gold)) for gold in golds)
    return exact, max(f1(gold) for gold in golds)


def scores(predictions, rows, limit=math.inf):
    """(exact match, F1) in percent. It declines where no answer scores more than `limit` times as high as the answer."""
    pairs = [exact_and_f1("" if none > limit else text, [text for _, text in row["answers"]]) for (text, none), row in zip(predictions, rows)]
    exact, f1 = np.mean(pairs, axis=0) * 100
    return float(exact), float(f1)


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
    said = predict(model, tokenizer, rows)
    swapped = [row | {"context": rows[(number + len(rows) // 2) % len(rows)]["context"]} for number, row in enumerate(rows)]
    shorter = [row for row in map(without_answer, rows) if row]
    names = ("exact", "f1", "exact where it may decline", "f1 where it may decline")
    return dict(zip(names, (round(value, 2) for limit in (math.inf, 1) for value in scores(said, rows, limit)))) | {
        "declines another passage": declined(predict(model, tokenizer, swapped)),
        "declines without the sentence": declined(predict(model, tokenizer, shorter))}


def of_facts(model, tokenizer, rows):
    """On made-up passages: exact match where it may decline, and how often it declines where there is no answer."""
    answerable, others = [row for row in rows if row["answers"]], [row for row in rows if not row["answers"]]
    exact, _ = scores(predict(model, tokenizer, answerable), answerable, 1)
    return {"facts exact": round(exact, 1), "facts declined": declined(predict(model, tokenizer, others))}
