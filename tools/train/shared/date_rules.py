"""Dates, amounts, e-mail addresses and links, found by rule in text that does not mark them, where the form gives them away."""

import re

from shared.entities import Sentence
from shared.templates import word_lists

WORDS = word_lists("words.txt")
MONTHS, SHORT_MONTHS, DAYS = WORDS["months"], WORDS["short_months"], WORDS["weekday"]
CURRENCIES, SCALES, BEFORE_YEAR = (set(WORDS[name]) for name in ("currencies", "scales", "before_year"))
YEAR = re.compile(r"1[5-9]\d\d|20[0-3]\d")
DECADE = re.compile(r"(1[5-9]\d\d|20[0-3]\d)s")
DAY_NUMBER = re.compile(r"([12]?\d|3[01])(st|nd|rd|th)?")
NUMERIC_DATE = re.compile(r"\d{1,2}[/.]\d{1,2}[/.](\d{4}|\d{2})|\d{4}-\d{2}-\d{2}")
NUMBER = re.compile(r"\d[\d,.]*")
MONEY = re.compile(r"([$£€]|US\$)\d[\d,.]*(k|m|bn)?|\d[\d,.]*[$£€]", re.IGNORECASE)
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")
LINK = re.compile(r"(https?://|www\.)\S+|\w+\.(com|org|net|co\.uk)(/\S*)?", re.IGNORECASE)


def date_end(words, at):
    """One past the date that begins at word `at`, or `at`."""
    def word(i):
        return words[i] if 0 <= i < len(words) else ""

    is_month = word(at) in MONTHS or word(at).rstrip(".") in SHORT_MONTHS
    if is_month:
        end = at + 1
        if DAY_NUMBER.fullmatch(word(end)):
            end += 1
            if word(end) == "," and YEAR.fullmatch(word(end + 1)):
                return end + 2
        if YEAR.fullmatch(word(end)):
            return end + 1
        certain = word(at) not in ("May", "March", "Mar") or word(at - 1).lower() in BEFORE_YEAR | {"last", "next", "this"}
        return end if end > at + 1 or certain else at
    if DAY_NUMBER.fullmatch(word(at)):
        following = at + 2 if word(at + 1) == "of" else at + 1
        if word(following) in MONTHS or word(following).rstrip(".") in SHORT_MONTHS:
            return following + 2 if YEAR.fullmatch(word(following + 1)) else following + 1
    if word(at) in DAYS or NUMERIC_DATE.fullmatch(word(at)) or DECADE.fullmatch(word(at)):
        return at + 1
    if YEAR.fullmatch(word(at)) and (word(at - 1).lower() in BEFORE_YEAR or word(at - 1) in ("(", ",") or word(at + 1) == ")"):
        return at + 1
    return at


def amount_end(words, at):
    def word(i):
        return words[i].lower() if 0 <= i < len(words) else ""

    if MONEY.fullmatch(word(at)):
        return at + 2 if word(at + 1) in SCALES else at + 1
    if word(at) in ("$", "£", "€") and NUMBER.fullmatch(word(at + 1)):
        return at + 3 if word(at + 2) in SCALES else at + 2
    if NUMBER.fullmatch(word(at)):
        end = at + 2 if word(at + 1) in SCALES else at + 1
        if word(end) in CURRENCIES or word(end) in ("€", "£"):
            return end + 1
    return at


def with_details(sentence):
    """The sentence with dates, amounts, addresses and links marked where no label says otherwise."""
    labels, at = list(sentence.labels), 0
    while at < len(labels):
        found = [("DATE", date_end(sentence.words, at)), ("AMOUNT", amount_end(sentence.words, at))]
        if EMAIL.fullmatch(sentence.words[at]):
            found = [("EMAIL", at + 1)]
        elif LINK.fullmatch(sentence.words[at]):
            found = [("LINK", at + 1)]
        kind, end = max(found, key=lambda one: one[1])
        if end > at and all(label == "O" for label in labels[at:end]):
            labels[at:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - at - 1)
            at = end
        else:
            at += 1
    return Sentence(sentence.words, labels)
