"""Templates of made-up texts, and lists of words, in models/training: [a|b] is one of several, {word} one of a list or a detail."""

import hashlib
import re
from pathlib import Path

MODELS = Path(__file__).resolve().parents[3] / "models"
CHOICE = re.compile(r"\[([^\[\]]*)\]")


def read_lines(name):
    return [line for line in (MODELS / "training" / name).read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


def template_lines(name):
    return [line for line in read_lines(name) if not line.startswith("= ")]


def word_lists(name):
    """{name: words} of the lines "= name a b c", or "= name a|b|c" where words have spaces."""
    found = {}
    for line in read_lines(name):
        if line.startswith("= "):
            _, key, rest = line.split(" ", 2)
            found[key] = rest.split("|") if "|" in rest else rest.split()
    return found


def expanded(template, rng):
    """The template with one of each choice, the inner ones first."""
    while match := CHOICE.search(template):
        template = template[:match.start()] + rng.choice(match[1].split("|")) + template[match.end():]
    return template


def single_spaced(text):
    return re.sub(r"\s+", " ", text).strip()


def bucket(key, count):
    """A number below `count` that depends on the key alone."""
    return hashlib.sha256(key.encode()).digest()[0] % count


def is_held_out(template):
    return bucket(template, 10) == 0
