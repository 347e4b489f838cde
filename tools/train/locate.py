"""Location examples: the question is a few words around a span that stays where it is in the passage.

The easiest forms of matching a question with a passage: find the words that the question quotes, then find the place that
shares words with the question and select the span that they surround. A small encoder does not come upon matching by itself
within our budget (the loss of the second form alone stays that of guessing), but learns quoting in some 200 steps and goes on
from there. After the inverse cloze task (Lee et al., 2019), with the sentence kept in the passage.
"""

import numpy as np

from examples import Example

QUESTION_WORDS = ["what", "who", "when", "where", "which", "how", "why"]
LEAST_CONTEXT = 24  # tokens


class LocateExamples:
    """Makes a new example from a passage at every look-up; as long as the list of passages.

    `quoting` is the share of questions that contain the answer itself.
    """

    def __init__(self, examples, rng, vocab):
        self.contexts = [e.context for e in examples if len(e.context) >= LEAST_CONTEXT]
        self.rng = rng
        self.quoting = 1.0
        self.openers = [vocab[word] for word in QUESTION_WORDS]
        self.closer = vocab["?"]
        self.continues = np.zeros(len(vocab), dtype=bool)  # pieces that do not begin a word
        self.is_word = np.zeros(len(vocab), dtype=bool)  # pieces that may begin an answer
        for token, number in vocab.items():
            self.continues[number] = token.startswith("##")
            self.is_word[number] = token[0].isalnum()

    def __len__(self):
        return len(self.contexts)

    def span(self, context):
        """First and last token of one to three whole words."""
        starts = np.flatnonzero(self.is_word[context])
        first = int(self.rng.choice(starts)) if len(starts) else 0
        last = first
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            last += 1
        last = min(last, len(context) - 1)
        while last + 1 < len(context) and self.continues[context[last + 1]]:
            last += 1
        return first, last

    def __getitem__(self, number):
        context, rng = self.contexts[number], self.rng
        first, last = self.span(context)
        quoted = list(context[first:last + 1]) if rng.random() < self.quoting else []
        if quoted and rng.random() < 0.5:
            return self.example(quoted, context, first, last)
        keep = 1 - rng.choice([0.0, 0.0, 0.2, 0.4])
        before = [t for t in context[max(0, first - rng.randint(2, 8)):first] if rng.random() < keep]
        after = [t for t in context[last + 1:last + 1 + rng.randint(2, 8)] if rng.random() < keep]
        rest = [*before, *quoted, *after] if rng.random() < 0.5 else [*after, *before, *quoted]
        return self.example(rest, context, first, last)

    def example(self, words, context, first, last):
        question = np.array([self.rng.choice(self.openers), *words, self.closer], np.uint16)
        return Example(question, context, [(first, last)])
