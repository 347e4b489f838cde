"""Writes the parts for choosing as JSON, for precision.mjs --rows: what the demo models lose with q8.

    python tests/bench/precision_rows.py --out ROWS.json

Needs what tools/train/requirements.txt names.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "train"))

import zero_shot
from shared.entities import NER_SETS, TYPES, ner_sentences, spans
from shared.redaction import HeldOut
from shared.sorting import held_out_messages
from shared.texts import DEFAULT_DATA_DIR, SENTIMENT_SETS, reader_rows, sentiment_rows


def tagged(sentence):
    """The words with the type of each one's entity, and whether it is the first of it."""
    types, begins = [None] * len(sentence.words), [False] * len(sentence.words)
    for first, end, kind in spans(sentence.labels):
        if kind in TYPES:
            types[first:end], begins[first] = [kind] * (end - first), True
    return {"words": sentence.words, "types": types, "begins": begins}


def slots_of(message):
    """Where the details stand, in UTF-16 units, as JavaScript counts."""
    return [[len(message.text[:at].encode("utf-16-le")) // 2 for at in (start, end)] for start, end, _ in message.slots]


def labelled(rows, names):
    return {"names": list(names.values()), "rows": [{"text": row.text, "right": [names[key] for key in row.labels if key in names]} for row in rows]}


def zero_shot_rows(data_dir):
    found = {name: labelled(*part) for name, part in zero_shot.choosing_parts(data_dir).items()}
    messages, names = held_out_messages(200)
    for name, listed in messages.items():
        rows = [zero_shot.Labelled(message.text, [message.labels[name]]) for message in listed]
        found[f"messages: {name}"] = labelled(rows, {key: several[0] for key, several in names[name].items()})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    found = {
        "sentiment": {name: [{"label": label, "text": text} for label, text in sentiment_rows(args.data_dir, name, "dev")] for name in SENTIMENT_SETS},
        "reader": [{"question": row["question"], "context": row["context"], "golds": [text for _, text in row["answers"]]}
                   for rows in reader_rows(args.data_dir, "dev").values() for row in rows],
        "tagger": {name: [tagged(sentence) for sentence in ner_sentences(args.data_dir, name, "dev")] for name in NER_SETS},
        "messages": [{"text": message.text, "slots": slots_of(message)} for message in HeldOut(args.data_dir).sets["new"]],
        "zero-shot": zero_shot_rows(args.data_dir)}
    args.out.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
