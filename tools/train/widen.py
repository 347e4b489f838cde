"""Adds characters to the vocabulary of a saved tagger: those of names and messages in its languages that it does not know, and the usual ones of
Chinese, Japanese and Korean.

    python widen.py --weights MODEL_DIR --out-dir OUT

A new character's embedding begins as the mean of those of its script.
"""

import argparse
import json
import random
import unicodedata
from pathlib import Path

import torch
from transformers import ConvBertForTokenClassification

from shared.multilingual import Maker, drawn, languages
from shared.name_lists import japanese_firsts, japanese_lasts, towns
from shared.training import save_model

TABLES = (("gb2312", 0xb0, 0xd8), ("euc_jp", 0xb0, 0xd0), ("euc_kr", 0xb0, 0xc9))  # encodings, and the first bytes of their usual characters
MESSAGES, LEAST = 3000, 3  # number of texts of a language, and the least number of times that a character occurs in them


def script(char):
    return unicodedata.name(char, "").split(" ")[0]


def usual_characters():
    for encoding, first, last in TABLES:
        yield from "".join(bytes([row, column]).decode(encoding, "ignore") for row in range(first, last) for column in range(0xa1, 0xff))


def characters():
    """Returns the characters of texts in the languages, with names."""
    counts = {}
    for code in languages():
        maker = Maker(code, "train", random.Random(f"widen {code}"))
        texts = [maker.detailed().text for _ in range(MESSAGES)]
        texts += [*towns(code), *maker.drawer.listed("givens"), *maker.drawer.listed("foreign"), *maker.drawer.listed("detailed"), *maker.drawer.listed("clean")] * LEAST
        texts += [name for locale in maker.drawer.language.locales for slot in ("FIRST", "LAST") for name in drawn(locale)[slot]] * LEAST
        if code == "ja":
            texts += [part for pair in japanese_firsts() + japanese_lasts() for part in pair]
        for char in (char for text in texts for char in text if char.isalpha()):
            counts[char] = counts.get(char, 0) + 1
    return sorted({char for char, count in counts.items() if count >= LEAST} | set(usual_characters()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out-dir", type=Path, required=True)
    args = parser.parse_args()
    model = ConvBertForTokenClassification.from_pretrained(args.weights, dtype=torch.float32)
    tokenizer = json.loads((args.weights / "tokenizer.json").read_text(encoding="utf-8"))
    vocab = tokenizer["model"]["vocab"]
    pieces = [piece for char in characters() for piece in ([char] if script(char) == "CJK" else [char, "##" + char]) if piece not in vocab]
    rows = model.convbert.embeddings.word_embeddings.weight.detach()
    of_script = {}
    for piece, number in vocab.items():
        if len(piece.removeprefix("##")) == 1:
            of_script.setdefault((script(piece[-1]), len(piece)), []).append(number)
    everywhere = list(range(5, len(rows)))
    new = [rows[of_script.get((script(piece[-1]), len(piece)), everywhere)].mean(0) for piece in pieces]
    old = len(rows)
    model.resize_token_embeddings(old + len(pieces), mean_resizing=False)
    with torch.no_grad():
        model.convbert.embeddings.word_embeddings.weight[old:] = torch.stack(new)
    save_model(model, args.weights, args.out_dir)
    for number, piece in enumerate(pieces):
        vocab[piece] = old + number
    (args.out_dir / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    with (args.out_dir / "vocab.txt").open("a", encoding="utf-8") as file:
        file.writelines(f"{piece}\n" for piece in pieces)
    print(len(pieces), "pieces more")


if __name__ == "__main__":
    main()
