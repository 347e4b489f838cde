"""Vocabulary of the zero-shot model, and the teacher's vectors of its tokens, training texts and labels.

    python zero_shot_teacher.py --teacher MINILM_DIR --out-dir OUT [--data-dir DATA]

The teacher is sentence-transformers/all-MiniLM-L6-v2: texts of similar meaning have vectors of a high cosine. The vocabulary is the
part of its own that everyday texts need most. OUT gets the tokenizer and vectors.pt.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoModel

from make_vocab import SPECIAL, save
from schedule import save_checkpoint, single_thread
from texts import DEFAULT_DATA_DIR
from zero_shot_sources import training_phrases, training_texts

LONGEST = 128  # tokens
BATCH_TOKENS = 4096
ZIPF_TOKENS = 3e5  # count that the most frequent token of the prior would have; the prior's weight


class Teacher:
    def __init__(self, folder):
        self.tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(LONGEST)
        self.model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()

    def embed(self, texts):
        """Vectors of length 1, [texts, 384]."""
        return self.embed_ids([encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))])

    @torch.inference_mode()
    def embed_ids(self, rows):
        """The same of ids with special tokens. Batches hold one length only, so that nothing is padded."""
        result = torch.zeros(len(rows), self.model.config.hidden_size)
        order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
        while order:
            length = len(rows[order[-1]])
            same = [number for number in order[-(BATCH_TOKENS // length):] if len(rows[number]) == length]
            del order[-len(same):]
            states = self.model(torch.tensor([rows[number] for number in same])).last_hidden_state
            result[same] = torch.nn.functional.normalize(states.mean(1), dim=1)
        return result

    def accuracy(self, rows, names):
        """Percent of rows to which one of their labels is the nearest; `names` is {key: name}."""
        keys = list(names)
        best = (self.embed(row.text for row in rows) @ self.embed(names.values()).T).argmax(1).tolist()
        return float(np.mean([keys[number] in row.labels for row, number in zip(rows, best)]) * 100)


def choose_tokens(tokenizer, texts, size):
    """The special tokens, all ASCII characters, and what the texts use most. The teacher's vocabulary is ordered by frequency
    in Wikipedia and books: that counts like more text, by Zipf's law."""
    listed = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    listed = [(token, number) for token, number in listed if token.isascii() and "[" not in token]
    first_word = next(number for token, number in listed if token == "the")
    counts = np.zeros(tokenizer.get_vocab_size())
    for start in range(0, len(texts), 1000):
        for encoding in tokenizer.encode_batch(texts[start:start + 1000], add_special_tokens=False):
            np.add.at(counts, encoding.ids, 1)
    characters = [token for token, _ in listed if len(token.removeprefix("##")) == 1]
    score = {token: counts[number] + ZIPF_TOKENS / (10 + max(0, number - first_word)) for token, number in listed}
    ranked = sorted(score, key=score.get, reverse=True)
    return list(dict.fromkeys([*SPECIAL, "[", *characters, *ranked]))[:size]


def make_tokenizer(folder, tokens):
    """The teacher's tokenizer with these tokens only."""
    content = json.loads((Path(folder) / "tokenizer.json").read_text(encoding="utf-8"))
    number = {token: index for index, token in enumerate(tokens)}
    content["model"]["vocab"] = number
    content["added_tokens"] = [{**one, "id": number[one["content"]]} for one in content["added_tokens"] if one["content"] in number]
    for token, entry in content["post_processor"]["special_tokens"].items():
        entry["ids"] = [number[token]]
    content["padding"] = content["truncation"] = None
    return Tokenizer.from_str(json.dumps(content))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--teacher", type=Path, required=True, help="folder of sentence-transformers/all-MiniLM-L6-v2")
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--vocab-size", type=int, default=12000)
    args = parser.parse_args()
    single_thread(1)
    teacher, start = Teacher(args.teacher), time.process_time()
    texts = training_texts(args.data_dir)
    tokens = choose_tokens(teacher.tokenizer, texts, args.vocab_size)
    save(make_tokenizer(args.teacher, tokens), args.out_dir)
    phrases = training_phrases(args.data_dir, texts, tokens)
    print(len(texts), "texts", len(phrases), "phrases", len(tokens), "tokens", f"{time.process_time() - start:.0f} s", flush=True)
    cls, sep = (teacher.tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
    token_vectors = teacher.embed_ids([[cls, teacher.tokenizer.token_to_id(token), sep] for token in tokens])
    phrase_vectors = teacher.embed(phrases)
    print(f"{time.process_time() - start:.0f} s", flush=True)
    text_vectors = teacher.embed(texts)
    save_checkpoint(args.out_dir / "vectors.pt", texts=texts, phrases=phrases, token_vectors=token_vectors.half(),
                    phrase_vectors=phrase_vectors.half(), text_vectors=text_vectors.half())
    print(f"{time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
