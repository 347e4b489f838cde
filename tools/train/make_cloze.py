"""Makes span-selection examples from plain text, so that the reader learns to match a question with a passage.

A span that occurs in two sentences of a passage is taken out of one of them; that sentence, shortened and opened with a
question word, is the question, the other sentences are the context. After "recurring span selection" (Ram et al., 2021,
Splinter) and cloze translation (Lewis et al., 2019).

    python make_cloze.py --tokenizer-dir TOK --out OUT.npz [--data-dir DATA] [--count 120000]
"""

import argparse
import random
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from examples import Example, save_examples, token_span
from splits import reader_rows
from texts import DEFAULT_DATA_DIR, general_documents

STOP_WORDS = set("""a an the and or but if of in on at to from by with for as is are was were be been being it its he she
they we you i his her their our your my this that these those not no so than then there here have has had do does did
will would can could may might must shall should which who whom whose what when where why how all any some each every
other such more most one also into about over after before between through out up down only very him them us me mr mrs
said upon own same says say asked go went come came see know like good time way many much new first two""".split())
SENTENCE = re.compile(r"[^.!?]+(?:[.!?]+(?=\S)[^.!?]+)*[.!?]*[\"”’)]*\s*")
WORD = re.compile(r"[\w][\w'’-]*")
SOURCE_COUNTS = {"openstax": 0.75, "factbook": 0.14, "us-speeches": 0.03, "standard-ebooks": 0.08}


def passages(paragraphs, least=70, most=150):
    """Joins paragraphs of a document into passages of about 70 to 150 words."""
    words, buffer = 0, []
    for paragraph in paragraphs:
        count = paragraph.count(" ") + 1
        if words and words + count > most:
            if words >= least:
                yield " ".join(buffer)
            words, buffer = 0, []
        if count <= most:
            words += count
            buffer.append(paragraph)
    if words >= least:
        yield " ".join(buffer)


def spans_by_text(sentences):
    """Spans of one to four words, keyed by their lower-case words: lists of (sentence, start, end) in characters."""
    places = defaultdict(list)
    for number, sentence in enumerate(sentences):
        words = [(m.start(), m.end(), m.group()) for m in WORD.finditer(sentence)]
        for first in range(len(words)):
            for last in range(first, min(first + 4, len(words))):
                inner = words[first:last + 1]
                lowered = [w[2].lower() for w in inner]
                if lowered[0] in STOP_WORDS or lowered[-1] in STOP_WORDS:
                    continue
                if any(c in ",;:—()" for c in sentence[words[first][0]:words[last][1]]):
                    continue
                if len(inner) == 1 and len(lowered[0]) < 3 and not lowered[0].isdigit():
                    continue
                places[tuple(lowered)].append((number, words[first][0], words[last][1]))
    return places


def question_word(span, rng):
    if any(c.isdigit() for c in span):
        return rng.choice(["when", "how many", "what year" if re.fullmatch(r"1\d\d\d|20\d\d", span) else "how much"])
    if span[0].isupper():
        return rng.choice(["who", "what", "where", "which", "who", "what"])
    return rng.choice(["what", "what", "what", "how", "why"])


def make_question(sentence, start, end, rng):
    """Some of the words around the span, opened or filled by a question word."""
    span = sentence[start:end]
    before = WORD.findall(sentence[:start])[-rng.randint(3, 10):]
    after = WORD.findall(sentence[end:])[:rng.randint(3, 10)]
    drop = rng.choice([0.0, 0.1, 0.25, 0.4])
    before = [w for w in before if rng.random() >= drop]
    after = [w for w in after if rng.random() >= drop]
    if len([w for w in before + after if w.lower() not in STOP_WORDS]) < 2:
        return None
    form = rng.random()
    if form < 0.15:
        return " ".join([*before, "[MASK]", *after])
    word = question_word(span, rng)
    if form < 0.5:
        return " ".join([*before, word, *after]) + "?"
    rest = [*before, *after] if rng.random() < 0.5 else [*after, *before]
    return " ".join([word, *rest]) + "?"


def cloze(passage, rng):
    """(question, context, [(start, end), ...]) or None."""
    sentences = [s for s in SENTENCE.findall(passage) if s.strip()]
    if len(sentences) < 3:
        return None
    places = {key: found for key, found in spans_by_text(sentences).items()
              if len({number for number, _, _ in found}) > 1 and len(found) <= 6}
    if not places:
        return None
    keys = list(places)
    named = [any(sentences[n][a].isupper() or sentences[n][a].isdigit() for n, a, _ in places[key][1:]) for key in keys]
    weights = [len(key) ** 1.5 * (12.0 if name else 1.0) for key, name in zip(keys, named)]
    found = places[rng.choices(keys, weights)[0]]
    number, start, end = rng.choice(found)
    question = make_question(sentences[number], start, end, rng)
    if question is None:
        return None
    context, answers = "", []
    for other, sentence in enumerate(sentences):
        if other != number:
            answers += [(len(context) + a, len(context) + b) for n, a, b in found if n == other]
            context += sentence
    return question, context, answers


def source_passages(data_dir, rng):
    """Passages of all sources in random order, roughly in the wanted shares, task passages first of all."""
    for rows in reader_rows(data_dir, "train").values():
        for context in {row["context"]: None for row in rows}:
            yield context
            yield context
    pools = {}
    for name in SOURCE_COUNTS:
        pools[name] = [p for document in general_documents(data_dir, name) for p in passages(document[1:])]
        rng.shuffle(pools[name])
    while any(pools.values()):
        name = rng.choices(list(SOURCE_COUNTS), list(SOURCE_COUNTS.values()))[0]
        if pools[name]:
            yield pools[name].pop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=120000)
    args = parser.parse_args()
    rng = random.Random(1)
    made = []
    for passage in source_passages(args.data_dir, rng):
        item = cloze(passage, rng)
        if item:
            made.append(item)
        if len(made) >= args.count:
            break
    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    examples = []
    for begin in range(0, len(made), 2000):
        part = made[begin:begin + 2000]
        questions = tokenizer.encode_batch([q for q, _, _ in part], add_special_tokens=False)
        contexts = tokenizer.encode_batch([c for _, c, _ in part], add_special_tokens=False)
        for (_, _, answers), question, context in zip(part, questions, contexts):
            spans = [token_span(context.offsets, a, b) for a, b in answers]
            examples.append(Example(np.array(question.ids, np.uint16), np.array(context.ids, np.uint16),
                                    [s for s in spans if s]))
    examples = [e for e in examples if e.answers]
    rng.shuffle(examples)
    save_examples(args.out, examples)
    for question, context, answers in rng.sample(made, 5):
        print(question, "|", context[:300], "|", [context[a:b] for a, b in answers])
    print(len(examples), "examples,", int(np.mean([len(e.context) for e in examples])), "context tokens on average")


if __name__ == "__main__":
    main()
