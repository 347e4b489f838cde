"""Makes questions from plain text by rule: a clause whose name, number, date or phrase is asked for.

"Its lamp burned whale oil until 1902" becomes "when did its lamp burn whale oil", with the sentence left in the passage. After
cloze translation (Lewis et al., 2019) and question generation by rule (Heilman and Smith, 2010), without a parser: the questions
are rough, but they are asked as people ask, about the kind of thing that people ask for.

    python make_questions.py --tokenizer-dir TOK --out OUT.npz [--data-dir DATA] [--count 200000]
"""

import argparse
import random
import re
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from examples import Example, save_examples, token_span
from make_cloze import SENTENCE, STOP_WORDS, source_passages
from texts import DEFAULT_DATA_DIR

TOKEN = re.compile(r"[$£€]?\d[\d,.]*\d%?|[$£€]?\d%?|[A-Za-zÀ-ɏ][\w’'-]*|[,;:()—–\"“”.?!]")
BREAKS = set(",;:()—–\"“”.?!")
AUXILIARIES = set("is are was were has have had can could will would may might must should does did do".split())
PREPOSITIONS = set("in on at to from by with for of into during until since after before about between through over under against "
                   "near within as than".split())
PLACE_AFTER = {"in", "at", "from", "to", "near", "into", "across", "through"}
MONTHS = set("january february march april may june july august september october november december".split())
DETERMINERS = {"the", "a", "an", "his", "her", "their", "its", "this", "these", "my", "our"}
YEAR = re.compile(r"1[0-9]\d\d|20[0-2]\d")
VERB_ENDING = re.compile(r"(\w{3,})(ied|ed|s)$")
IRREGULAR = dict(pair.split(":") for pair in """made:make gave:give took:take went:go came:come wrote:write became:become began:begin
brought:bring built:build bought:buy caught:catch chose:choose drew:draw fell:fall felt:feel fought:fight found:find flew:fly
got:get grew:grow held:hold kept:keep knew:know led:lead left:leave lost:lose met:meet paid:pay ran:run rose:rise said:say
saw:see sold:sell sent:send set:set shot:shoot sang:sing sat:sit spoke:speak spent:spend stood:stand taught:teach told:tell
thought:think won:win wore:wear has:have had:have does:do""".split())


def base_form(verb):
    """'burned' is 'burn'; a guess."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    match = VERB_ENDING.fullmatch(verb)
    if not match:
        return verb
    stem, ending = match.groups()
    if ending == "ied":
        return stem + "y"
    if ending == "ed":
        return stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "ls" else stem + ("e" if stem[-1] in "vsucz" else "")
    return stem


def is_name(word):
    return word[0].isupper() and word.lower() not in STOP_WORDS


def candidates(words):
    """(first, last, kind) of the spans of a sentence's words that may be asked for."""
    found, at = [], 0
    while at < len(words):
        word, lower = words[at], words[at].lower()
        if lower in MONTHS and word[0].isupper() and at + 1 < len(words) and words[at + 1][0].isdigit():
            last = at + 1
            if last + 2 < len(words) and words[last + 1] == "," and YEAR.fullmatch(words[last + 2]):
                last += 2
            found.append((at, last, "date"))
            at = last
        elif word[0].isdigit() or word[0] in "$£€":
            found.append((at, at, "year" if YEAR.fullmatch(word) else "amount" if word[0] in "$£€" or word[-1] == "%" else "number"))
        elif is_name(word) and at > 0 or is_name(word) and len(words) > 1 and words[1][0].isupper():
            last = at
            while last + 1 < len(words) and (is_name(words[last + 1]) or words[last + 1] in ("of", "de", "the")
                                             and last + 2 < len(words) and is_name(words[last + 2])):
                last += 1
            found.append((at, last, "name"))
            at = last
        elif lower in ("because",) and at + 3 < len(words):
            last = at + 1
            while last + 1 < len(words) and words[last + 1] not in BREAKS:
                last += 1
            found.append((at + 1, last, "reason"))
        elif lower in DETERMINERS | PREPOSITIONS or lower in AUXILIARIES:
            last = at
            while (last + 1 < len(words) and last < at + 4 and words[last + 1].isalpha() and words[last + 1].islower()
                   and words[last + 1] not in STOP_WORDS | PREPOSITIONS | AUXILIARIES | DETERMINERS):
                last += 1
            if last > at:
                found.append((at + 1, last, "thing"))
        at += 1
    return found


def question_words(words, first, last, kind, rng):
    """What the question opens with, and how many words after the span it takes along."""
    before = words[first - 1].lower() if first else ""
    after = words[last + 1] if last + 1 < len(words) else "."
    if kind in ("year", "date"):
        options = ["when", "when", "when", "what year", "in what year"] if kind == "year" else ["when", "when", "on what date", "what day"]
        return rng.choice(options), 0
    if kind == "amount":
        return rng.choice(["how much", "what percentage" if words[first][-1] == "%" else "how much money", "how much"]), 0
    if kind == "number":
        if after.isalpha() and after.islower() and after not in STOP_WORDS:
            return f"how many {after}", 1
        return rng.choice(["how many", "what number", "how much"]), 0
    if kind == "reason":
        return "why", 0
    if kind == "name":
        if before in PLACE_AFTER and rng.random() < 0.75:
            return rng.choice(["where", "where", "where", "what country", "what city", "which place"]), 0
        person = before in ("by", "") or last > first
        return rng.choice(["who", "who", "who", "what", "which", "what is the name of the one"] if person else
                          ["what", "what", "who", "which", "what country", "what group"]), 0
    if before in ("in", "at", "on", "near", "into", "under"):
        return rng.choice(["where", "what", "in what", "what"]), 0
    if before in ("for", "during"):
        return rng.choice(["how long", "what", "when", "why"]), 0
    return rng.choice(["what", "what", "what", "what kind of thing", "which", "how"]), 0


def clause_around(words, first, last, rng):
    """Words before and after the span, up to the clause's ends; a comma may be read over."""
    start, end = first, last
    while start > 0 and words[start - 1] not in BREAKS:
        start -= 1
    while end + 1 < len(words) and words[end + 1] not in BREAKS:
        end += 1
    if end - start < 6 and rng.random() < 0.5:  # a short clause: the sentence
        start, end = max(0, first - 12), min(len(words) - 1, last + 10)
    before = [w for w in words[start:first] if w not in BREAKS]
    after = [w for w in words[last + 1:end + 1] if w not in BREAKS]
    return before, after


def ask(words, first, last, kind, rng):
    """The question's words, or None."""
    opener, taken = question_words(words, first, last, kind, rng)
    before, after = clause_around(words, first, last, rng)
    after = after[taken:][:rng.choice((3, 6, 12))]
    if before and before[-1].lower() in PREPOSITIONS | {"because"} and kind != "number":
        if rng.random() < 0.85 or before[-1] == "because":
            before = before[:-1]
    elif before and before[-1].lower() in DETERMINERS:
        before = before[:-1]
    before = before[-rng.choice((8, 14)):]
    lower = [w.lower() for w in before]
    helper = next((i for i, w in enumerate(lower) if w in AUXILIARIES), None)
    if not before:
        body = after
    elif helper is not None:
        body = [before[helper], *before[:helper], *before[helper + 1:], *(after if rng.random() < 0.5 else [])]
    else:
        verb = next((i for i, w in enumerate(lower) if i and (w in IRREGULAR or VERB_ENDING.fullmatch(w) and w.endswith("ed"))), None)
        if verb is not None:
            before = [*before[:verb], base_form(lower[verb]), *before[verb + 1:]]
        body = [rng.choice(("did", "did", "does", "do")), *before, *(after if rng.random() < 0.5 else [])]
    drop = rng.choice((0.0, 0.0, 0.1, 0.25))
    body = [w for w in body if rng.random() >= drop]
    if len([w for w in body if w.lower() not in STOP_WORDS]) < 3:
        return None
    return " ".join([opener, *body]) + "?"


WEIGHTS = {"year": 5, "date": 6, "amount": 6, "number": 4, "name": 4, "reason": 5, "thing": 1}


def questions_of(passage, rng, count):
    """Up to `count` (question, start, end) on a passage."""
    spans = []
    for sentence in SENTENCE.finditer(passage):
        matches = list(TOKEN.finditer(sentence.group()))
        words = [m.group() for m in matches]
        if 6 <= len(words) <= 70:
            spans += [(sentence.start(), matches, words, *found) for found in candidates(words) if found[1] - found[0] < 12]
    made = []
    for _ in range(min(count, len(spans))):
        offset, matches, words, first, last, kind = rng.choices(spans, [WEIGHTS[s[5]] for s in spans])[0]
        question = ask(words, first, last, kind, rng)
        if question:
            begin = first - 1 if first and words[first - 1].lower() in ("the", "a", "an") and rng.random() < 0.4 else first
            made.append((question, offset + matches[begin].start(), offset + matches[last].end()))
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--tokenizer-dir", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--count", type=int, default=200000)
    parser.add_argument("--show", type=int, help="print some instead")
    args = parser.parse_args()
    rng, made = random.Random(2), []
    for passage in source_passages(args.data_dir, rng):
        found = questions_of(passage, rng, 2)
        made += [(question, passage, start, end) for question, start, end in found]
        if len(made) >= (20000 if args.show else args.count):
            break
    if args.show:
        for question, passage, start, end in rng.sample(made, args.show):
            print(f"{question} | {passage[start:end]} | ...{passage[max(0, start - 120):end + 60]}")
        return
    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    examples = []
    for begin in range(0, len(made), 2000):
        part = made[begin:begin + 2000]
        questions = tokenizer.encode_batch([item[0] for item in part], add_special_tokens=False)
        contexts = tokenizer.encode_batch([item[1] for item in part], add_special_tokens=False)
        for (_, _, start, end), question, context in zip(part, questions, contexts):
            span = token_span(context.offsets, start, end)
            if span:
                examples.append(Example(np.array(question.ids, np.uint16), np.array(context.ids, np.uint16), [span]))
    rng.shuffle(examples)
    save_examples(args.out, examples)
    print(len(examples), "questions,", int(np.mean([len(e.context) for e in examples])), "context tokens on average")


if __name__ == "__main__":
    main()
