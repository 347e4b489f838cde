"""Names with their types that texts at hand give away: slots of Snips, titles of the World Factbook, answers to "Who ...?".

They stand in the place of other names while the tagger is trained, and tell the case teacher what a word may be.
"""

import json
import re

from splits import reader_rows
from texts import general_documents, open_text

SLOTS = {"city": "LOC", "state": "LOC", "country": "LOC", "geographic_poi": "LOC", "artist": "PER", "restaurant_name": "ORG",
         "location_name": "ORG", "object_name": "MISC", "movie_name": "MISC", "album": "MISC", "track": "MISC"}
ASKED = [("PER", re.compile(r"\bwho\b")),
         ("LOC", re.compile(r"^where|\b(what|which) (city|country|state|town|county|river|island|region|province|continent)\b")),
         ("ORG", re.compile(r"\b(what|which) (company|team|band|organi[sz]ation|university|college|school|club|party|agency|newspaper|"
                            r"store|brand|network)\b"))]
SMALL = {"of", "the", "and", "de", "la", "von", "van", "&", "in", "for"}
TWO_LETTERS = re.compile(r"[A-Z]{2}")  # "IN" and "OR" are states in Snips


def is_name(words):
    return (0 < len(words) <= 5 and all(word[0].isupper() or word in SMALL for word in words) and words[0] not in SMALL
            and words[0] not in ("The", "He", "She", "They", "It") and words[-1][0].isupper())


def snips_names(data_dir):
    with open_text(data_dir / "classification" / "snips-train.jsonl.gz") as file:
        for row in map(json.loads, file):
            for start, end, slot in row["slots"]:
                words = row["text"][start:end].split()
                kind = SLOTS.get(slot)
                if slot == "artist" and len(words) not in (2, 3):
                    continue  # one word is often a band
                if kind == "LOC" and not TWO_LETTERS.fullmatch(words[0]):
                    words = [word if word.lower() in SMALL else word[:1].upper() + word[1:] for word in words]
                if kind and is_name(words):
                    yield kind, words


def answered_names(data_dir):
    for rows in reader_rows(data_dir, "train").values():
        for row in rows:
            words = row["answers"][0][1].rstrip(".,").split() if row["answers"] else []
            if is_name(words):
                yield from ((kind, words) for kind, asked in ASKED if asked.search(row["question"].lower()))


def names_by_type(data_dir):
    """{type: names, each a list of words}, every one once."""
    found = {"PER": {}, "ORG": {}, "LOC": {}, "MISC": {}}
    titles = [document[0].split() for document in general_documents(data_dir, "factbook")]
    for kind, words in [*snips_names(data_dir), *answered_names(data_dir), *(("LOC", title) for title in titles if is_name(title))]:
        found[kind][tuple(words)] = None
    return {kind: [list(words) for words in names] for kind, names in found.items()}
