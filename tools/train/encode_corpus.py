"""Tokenises the pre-training texts once, into flat uint16 files of token ids.

    python encode_corpus.py --tokenizer-dir TOK --out-dir OUT [--data-dir DATA] [--texts openstax factbook]

Writes one `<source>.u16` for each general text and `task.u16` for the task texts; documents are joined by [SEP].
"""

import argparse
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from splits import task_texts
from texts import DEFAULT_DATA_DIR, GENERAL_TEXTS, general_documents

BATCH = 2000


def encode(tokenizer, texts, path):
    separator = np.array([tokenizer.token_to_id("[SEP]")], dtype=np.uint16)
    total = 0
    with open(path, "wb") as file:
        for start in range(0, len(texts), BATCH):
            for encoding in tokenizer.encode_batch(texts[start:start + BATCH], add_special_tokens=False):
                ids = np.array(encoding.ids, dtype=np.uint16)
                file.write(ids.tobytes())
                file.write(separator.tobytes())
                total += len(ids) + 1
    print(f"{path.name}: {total} tokens", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--texts", nargs="*", choices=GENERAL_TEXTS, default=GENERAL_TEXTS, help="the general ones to take; else all")
    args = parser.parse_args()
    args.out_dir.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    encode(tokenizer, task_texts(args.data_dir), args.out_dir / "task.u16")
    for name in args.texts:
        documents = [" ".join(document) for document in general_documents(args.data_dir, name)]
        encode(tokenizer, documents, args.out_dir / f"{name}.u16")


if __name__ == "__main__":
    main()
