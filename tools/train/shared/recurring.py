"""Recurring-span selection (Ram et al., 2021): a sentence of which a span is hidden, asked of the rest of its passage, where the span stands again."""

import random
import re
from collections import defaultdict

from shared.texts import general_documents, passages
from shared.zero_shot_texts import STOP_WORDS

TEXTS = {"openstax": 1, "factbook": 1, "us-speeches": 1, "standard-ebooks": 3}  # one in so many documents
WORDS = 150  # of a passage
MOST = 3  # questions of a passage
LONGEST_QUESTION = 14  # words
LEAST_SHARED = 2  # words of a question and a sentence with its answer
KINDS = {"name": 4, "number": 3, "words": 2, "word": 0.5}  # weights of spans
MARKS = "\"'“”‘’.,;:!?()[]—-"
WORD = re.compile(r"\S+")


def passages_of(data_dir):
    """Paragraphs of one document, joined up to WORDS words, and the training passages of the reader's sets."""
    yield from passages(data_dir, "train")
    for name, step in TEXTS.items():
        for document in list(general_documents(data_dir, name))[::step]:
            text = ""
            for paragraph in document[1:]:
                if text and len(text.split()) + len(paragraph.split()) > WORDS:
                    yield text
                    text = ""
                text = f"{text} {paragraph}".strip()
            if text:
                yield text


def bare(word):
    return word.lower().strip(MARKS)


def spans_of(sentences):
    """{lower-case words: [(sentence, first word, last word)]} of the longest spans that occur in two sentences."""
    found = defaultdict(list)
    listed = [[bare(match[0]) for match in WORD.finditer(sentence)] for sentence in sentences]
    for number, words in enumerate(listed):
        for size in (4, 3, 2, 1):
            for first in range(len(words) - size + 1):
                span = words[first:first + size]
                if all(span) and span[0] not in STOP_WORDS and span[-1] not in STOP_WORDS and (size > 1 or len(span[0]) > 2):
                    found[tuple(span)].append((number, first, first + size - 1))
    kept, covered = {}, set()
    for span, places in sorted(found.items(), key=lambda item: -len(item[0])):
        if len({number for number, _, _ in places}) > 1:
            free = [place for place in places if not any((place[0], word) in covered for word in range(place[1], place[2] + 1))]
            if len({number for number, _, _ in free}) > 1:
                kept[span] = free
                covered |= {(number, word) for number, first, last in free for word in range(first, last + 1)}
    return kept


def question_of(words, first, last, rng):
    """Words around the hidden span, which is asked for."""
    hidden = " ".join(words[first:last + 1])
    what = "how many" if hidden[:1].isdigit() and len(hidden) < 4 else "when" if hidden[:1].isdigit() else \
        rng.choice(("who", "what", "which", "where")) if hidden[:1].isupper() else rng.choice(("what", "what", "which"))
    length = rng.randint(6, LONGEST_QUESTION)
    start = max(0, first - rng.randint(0, length))
    before, after = words[start:first], words[last + 1:max(last + 1, start + length)]
    if rng.random() < 0.5:
        return " ".join([what, *after, *before]).rstrip(".,;:") + "?"
    return " ".join([*before, what, *after]).rstrip(".,;:") + "?"


def content(words):
    """Beginnings of the words that say something: "built" and "building" differ, "town" and "towns" do not."""
    return {bare(word)[:5] for word in words if bare(word) not in STOP_WORDS and len(bare(word)) > 2}


def pairs_of(sentences, spans):
    """[(weight, span, its hidden place)]: those whose sentence shares words with another sentence that has the span, names and numbers first."""
    said, found = [sentence.split() for sentence in sentences], []
    of_sentence = [content(words) for words in said]
    for span, places in spans.items():
        own, weight = content(span), KINDS["word" if len(span) == 1 else "words"]
        if any(letter.isdigit() for letter in span[0]):
            weight = KINDS["number"]
        elif all(said[number][first][:1].isupper() and first for number, first, _ in places):
            weight = KINDS["name"]
        for place in places:
            shared = max((len((of_sentence[place[0]] & of_sentence[other[0]]) - own) for other in places if other[0] != place[0]), default=0)
            if shared >= LEAST_SHARED:
                found.append((weight * min(shared, 4), span, place))
    return found


def rows_of(text, rng):
    """Rows in the schema of `read_squad`, up to MOST of a passage."""
    sentences = [sentence for sentence in re.split(r"(?<=[.!?]) +", text) if sentence]
    if len(sentences) < 3:
        return []
    spans, rows = spans_of(sentences), []
    pairs = pairs_of(sentences, spans)
    for _ in range(min(MOST, len(pairs))):
        _, span, (number, first, last) = pair = rng.choices(pairs, [weight for weight, *_ in pairs])[0]
        pairs.remove(pair)
        answers, context = [], ""
        for one in (one for one in range(len(sentences)) if one != number):
            context += " " if context else ""
            for place, a, b in spans[span]:
                if place == one:
                    matches = list(WORD.finditer(sentences[one]))
                    said = sentences[one][matches[a].start():matches[b].end()]
                    start = len(context) + matches[a].start() + len(said) - len(said.lstrip(MARKS))
                    answers.append((start, said.strip(MARKS)))
            context += sentences[one]
        rows.append({"question": question_of(WORD.findall(sentences[number]), first, last, rng), "context": context, "answers": answers})
    return rows


def recurring_rows(data_dir, most):
    """Up to `most` rows of every text's passages, in random order, the same at every call."""
    rng = random.Random(0)
    rows = [row for text in passages_of(data_dir) for row in rows_of(text, rng)]
    rng.shuffle(rows)
    return rows[:most]
