"""All text as one stream of token ids, for pretrain.py and reader_examples.py.

    python encode_corpus.py --weights MODEL_DIR --out corpus.npz [--texts openstax factbook us-speeches standard-ebooks:2]

NAME:N takes every Nth document. The texts of the reader's and of the sentiment sets are always there, those of the training parts only.
`ids` holds the tokens (uint16) of passages of about 150 words, `starts` the first of each and the end.
"""

import argparse
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from shared.recurring import WORDS
from shared.texts import DEFAULT_DATA_DIR, SENTIMENT_SETS, general_documents, passages, sentiment_rows

CHUNK = 4000  # passages encoded at a time


def joined_paragraphs(document):
    """The paragraphs of a document after its title, joined up to WORDS words."""
    text = ""
    for paragraph in document[1:]:
        if text and len(text.split()) + len(paragraph.split()) > WORDS:
            yield text
            text = ""
        text = f"{text} {paragraph}".strip()
    if text:
        yield text


def corpus_passages(data_dir, names):
    for name in names:
        name, _, step = name.partition(":")
        for document in list(general_documents(data_dir, name))[::int(step or 1)]:
            yield from joined_paragraphs(document)


def training_texts(data_dir, sentiment_sets):
    """Passages of the reader's training parts, then texts of the sentiment sets, one after the other up to WORDS words."""
    yield from passages(data_dir, "train")
    for name in sentiment_sets:
        yield from joined_paragraphs(["", *(text for _, text in sentiment_rows(data_dir, name, "train"))])


def encoded(tokenizer, texts):
    """(text, encoding) of each."""
    texts = list(texts)
    for start in range(0, len(texts), CHUNK):
        yield from zip(texts[start:start + CHUNK], tokenizer.encode_batch(texts[start:start + CHUNK], add_special_tokens=False))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--weights", type=Path, required=True, help="a folder with the tokenizer")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--texts", nargs="*", default=["openstax", "factbook", "us-speeches", "standard-ebooks"])
    parser.add_argument("--sentiment-sets", nargs="*", default=list(SENTIMENT_SETS))
    args = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(args.weights / "tokenizer.json"))
    parts = [np.array(encoding.ids, np.uint16) for texts in (training_texts(args.data_dir, args.sentiment_sets), corpus_passages(args.data_dir, args.texts))
             for _, encoding in encoded(tokenizer, texts)]
    np.savez(args.out, ids=np.concatenate(parts), starts=np.cumsum([0, *map(len, parts)]).astype(np.int32))
    print(f"{sum(map(len, parts))} tokens in {len(parts)} passages")


if __name__ == "__main__":
    main()
