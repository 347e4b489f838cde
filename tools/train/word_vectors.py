"""Vectors of a vocabulary's tokens by skip-gram with negative sampling, to begin a model's token embeddings with.

    python word_vectors.py --tokenizer-dir TOK --corpus-dir CORPUS --out OUT.npy [--passes 3]

Reads the streams of encode_corpus.py; minutes on one core. The result is [vocabulary, 128], float32, of mean 0 and variance 1.
Saved after every pass; goes on from there.
"""

import argparse
import ctypes
import time
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

import native

DIMENSIONS = 128  # as in word_vectors.c
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
REPEATS = {"task": 3}  # how often a pass reads a stream; others once
CHUNK = 4_000_000  # tokens between two reads of the clock


def keep_chances(counts, threshold):
    """Chance that an occurrence is used, from how often its token occurs (Mikolov et al., 2013, in the form of word2vec.c)."""
    share = counts / counts.sum()
    chance = np.sqrt(threshold / np.maximum(share, 1e-12)) + threshold / np.maximum(share, 1e-12)
    return np.minimum(chance, 1).astype(np.float32)


def negative_table(counts, size=1 << 22):
    weights = counts ** 0.75
    ends = np.cumsum(weights / weights.sum())
    drawn = np.searchsorted(ends, (np.arange(size) + 0.5) / size)
    return np.minimum(drawn, len(counts) - 1).astype(np.uint16)


def standardised(vectors):
    vectors = vectors - vectors.mean(axis=0)
    return vectors / np.maximum(vectors.std(axis=1, keepdims=True), 1e-6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tokenizer-dir", type=Path, required=True)
    parser.add_argument("--corpus-dir", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--window", type=int, default=6)
    parser.add_argument("--negative", type=int, default=8)
    parser.add_argument("--rate", type=float, default=0.04)
    parser.add_argument("--threshold", type=float, default=2e-4)
    args = parser.parse_args()
    library = native.load("word_vectors.c")
    tokenizer = Tokenizer.from_file(str(args.tokenizer_dir / "tokenizer.json"))
    size = tokenizer.get_vocab_size()
    streams = []
    for path in sorted(args.corpus_dir.glob("*.u16")):
        streams += [np.fromfile(path, dtype=np.uint16)] * REPEATS.get(path.stem, 1)
    counts = sum(np.bincount(stream, minlength=size) for stream in streams).astype(np.float64)
    separates = np.zeros(size, np.uint8)
    separates[[tokenizer.token_to_id(token) for token in SPECIAL]] = 1
    counts[separates == 1] = 0
    keep, negatives = keep_chances(counts, args.threshold), negative_table(counts)
    keep[separates == 1] = 0

    state = args.out.with_suffix(".state.npz")
    rng = np.random.default_rng(1)
    vectors = ((rng.random((size, DIMENSIONS)) - 0.5) / DIMENSIONS).astype(np.float32)
    outputs, done = np.zeros((size, DIMENSIONS), np.float32), 0
    if state.exists():
        saved = np.load(state)
        vectors, outputs, done = saved["vectors"].copy(), saved["outputs"].copy(), int(saved["done"])
    total = sum(map(len, streams)) * args.passes
    for number in range(done, args.passes):
        trained = number * total // args.passes
        for stream in streams:
            for begin in range(0, len(stream), CHUNK):
                end = min(len(stream), begin + CHUNK)
                rates = [args.rate * max(1e-3, 1 - at / total) for at in (trained, trained + end - begin)]
                before = time.process_time()
                library.TrainPass(native.pointer(stream), ctypes.c_int64(begin), ctypes.c_int64(end), native.pointer(keep),
                                  native.pointer(separates), native.pointer(negatives), ctypes.c_int64(len(negatives)),
                                  args.window, args.negative, native.number(rates[0]), native.number(rates[1]),
                                  ctypes.c_uint64(trained + 1), native.pointer(vectors), native.pointer(outputs))
                trained += end - begin
                print(f"pass {number} {trained / total:.3f} of all, {(end - begin) / (time.process_time() - before):.0f} tokens "
                      "per processor second", flush=True)
        args.out.parent.mkdir(parents=True, exist_ok=True)
        np.savez(state, vectors=vectors, outputs=outputs, done=number + 1)
    np.save(args.out, standardised(vectors))
    show_neighbours(standardised(vectors), tokenizer)


def show_neighbours(vectors, tokenizer, words=("when", "river", "king", "good", "built", "1874", "france", "phone")):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for word in words:
        number = tokenizer.token_to_id(word)
        if number is not None:
            near = np.argsort(-(unit @ unit[number]))[1:9]
            print(word, "-", " ".join(tokenizer.id_to_token(int(i)) for i in near))


if __name__ == "__main__":
    main()
