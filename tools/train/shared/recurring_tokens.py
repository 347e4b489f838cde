"""The questions of `recurring.py` as places in passages of token ids: many of them then cost little more than the passages alone."""

import re

import numpy as np

from shared.recurring import MARKS, MOST, WORD, pairs_of, question_of, spans_of

SENTENCE = re.compile(r"(?:(?<=[.!?]) +|^)(?=\S)")


def token_range(starts, ends, start, end):
    """First token and the one after the last of those that cover the characters [start, end)."""
    return int(np.searchsorted(ends, start, "right")), int(np.searchsorted(starts, end, "left"))


def examples_of(text, offsets, rng, most=MOST):
    """[(question, (a, b), [(first, last)])] of one passage: the tokens a to b, those of the sentence that became the question, are to be
    left out of the passage, and the answers are tokens of the whole passage, inclusive.
    """
    places = [match.start() for match in SENTENCE.finditer(text)]
    sentences = [text[a:b].rstrip(" ") for a, b in zip(places, [*places[1:], len(text)])]
    if len(sentences) < 3 or not offsets:
        return []
    starts, ends = np.array(offsets).T
    spans, found = spans_of(sentences), []
    pairs = pairs_of(sentences, spans)
    for _ in range(min(most, len(pairs))):
        _, span, (number, first, last) = pair = rng.choices(pairs, [weight for weight, *_ in pairs])[0]
        pairs.remove(pair)
        answers = []
        for one, a, b in spans[span]:
            if one != number:
                matches = list(WORD.finditer(sentences[one]))
                said = sentences[one][matches[a].start():matches[b].end()]
                start = places[one] + matches[a].start() + len(said) - len(said.lstrip(MARKS))
                low, high = token_range(starts, ends, start, start + len(said.strip(MARKS)))
                if low < high:
                    answers.append((low, high - 1))
        hidden = token_range(starts, ends, places[number], places[number] + len(sentences[number]))
        if answers:
            found.append((question_of(WORD.findall(sentences[number]), first, last, rng), hidden, answers[:4]))
    return found
