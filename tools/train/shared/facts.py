"""Everyday passages (a lease, an invitation, a town) with questions that they answer or do not, made of facts by templates."""

import re

from shared.details import Details
from shared.span_batches import encode_rows
from shared.templates import expanded, is_held_out, single_spaced, template_lines, word_lists

ANSWER = re.compile(r"<(\d):([^<>]*)>")
WORD = re.compile(r"\{(\w+?)(\d?)\}")
UNANSWERABLE = 0.4  # share of the questions
POOL = 2000  # passages made at a time


def read_facts():
    """{kind of passage: [(sentence, [(question, number of its answer)])]}"""
    kinds = {}
    for line in template_lines("facts.txt"):
        if " => " not in line:
            kinds[line] = facts = []
            continue
        sentence, _, questions = line.partition(" => ")
        facts.append((sentence, [(one[:-1], int(one[-1])) for one in questions.split(" ; ")]))
    return kinds


class Words:

    def __init__(self, rng):
        self.rng, self.details, self.words = rng, Details("train", rng), word_lists("facts.txt")

    def detail(self, name):
        if name in self.words:
            return self.rng.choice(self.words[name])
        return str(self.rng.randint(11, 90)) if name == "num" else getattr(self.details, name)()

    def filled(self, template, fixed):
        """The template's text. `fixed` keeps the details whose names end in a digit; lastN is of the person fullN."""
        def detail(match):
            name, number = match.groups()
            if not number:
                return self.detail(name)
            if name == "last":
                return fixed.setdefault("full" + number, self.detail("full")).split()[-1]
            return fixed.setdefault(name + number, self.detail(name))

        text = single_spaced(expanded(template, self.rng))
        while WORD.search(text):
            text = WORD.sub(detail, text)
        return text


class Passage:

    def __init__(self, words, facts):
        self.words, self.fixed, self.text, self.answers = words, {}, "", {}
        for number, (sentence, _) in enumerate(facts):
            self.text += " " if self.text else ""
            self.add(number, words.filled(sentence, self.fixed))

    def add(self, number, sentence):
        plain, at = "", 0
        for match in ANSWER.finditer(sentence):
            plain += sentence[at:match.start()]
            start, plain, at = len(self.text) + len(plain), plain + match[2], match.end()
            self.answers[number, int(match[1])] = start, start + len(match[2])
        plain += sentence[at:]
        self.text += plain[:1].upper() + plain[1:].replace("m..", "m.")

    def row(self, template, number):
        """A row in the schema of `read_squad`. `number` is that of the answer, (fact, answer), or None."""
        question = self.words.filled(template, self.fixed)
        answers = [(start, self.text[start:end]) for start, end in [self.answers[number]]] if number else []
        return {"question": question[:1].upper() + question[1:], "context": self.text, "answers": answers}


class FactMaker:
    """Passages with a question each; `part` 'dev' asks of facts that are held out, among the others."""

    def __init__(self, part, rng):
        self.kinds, self.rng, self.words = read_facts(), rng, Words(rng)
        self.asked = [(kind, fact) for kind, facts in self.kinds.items() for fact in facts if is_held_out(fact[0]) == (part == "dev")]

    def rows(self, count):
        return [self.row() for _ in range(count)]

    def row(self):
        """A row in the schema of `read_squad`; its answers are an empty list where the passage does not answer the question."""
        rng = self.rng
        kind, fact = rng.choice(self.asked)
        others = [other for other in self.kinds[kind] if other is not fact]
        others = rng.sample(others, rng.randint(1, min(5, len(others))))
        answerable = [one for one in fact[1] if one[1]]
        if rng.random() >= UNANSWERABLE:
            facts = rng.sample([fact, *others], len(others) + 1)
            question, number = rng.choice(answerable)
            return Passage(self.words, facts).row(question, (next(i for i, one in enumerate(facts) if one is fact), number))
        if rng.random() < 0.3:  # a question of another kind of passage
            other_kind, other = rng.choice(self.asked)
            return self.row() if other_kind == kind else Passage(self.words, [fact, *others]).row(rng.choice(other[1])[0], None)
        question, number = rng.choice(fact[1])
        return Passage(self.words, others if number else rng.sample([fact, *others], len(others) + 1)).row(question, None)


class Facts:

    def __init__(self, part, tokenizer, rng):
        self.maker, self.tokenizer, self.pool = FactMaker(part, rng), tokenizer, []

    def __len__(self):
        return POOL

    def __getitem__(self, number):
        self.pool = self.pool or encode_rows(self.tokenizer, self.maker.rows(POOL))
        return self.pool.pop()
