"""Trains a WordPiece vocabulary: lower-case for the models that read for meaning, cased for the tagger.

    python make_vocab.py --out-dir OUT [--cased] [--data-dir DATA]
"""

import argparse
import itertools
import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from entities import NER_SETS, ner_sentences
from splits import task_questions, task_texts
from texts import DEFAULT_DATA_DIR, GENERAL_TEXTS, general_documents

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TASK_WEIGHT = 3  # how often the task texts are counted, since the demo models read such texts
CLASSICS_SHARE = 3  # one in three chapters of the classics, as their wording is old


def vocabulary_texts(data_dir):
    for name in GENERAL_TEXTS:
        for number, document in enumerate(general_documents(data_dir, name)):
            if name != "standard-ebooks" or number % CLASSICS_SHARE == 0:
                yield from document
    for _ in range(TASK_WEIGHT):
        yield from task_texts(data_dir)
        yield from task_questions(data_dir)


def tagged_texts(data_dir):
    for _ in range(TASK_WEIGHT):
        for name in NER_SETS:
            yield from (" ".join(sentence.words) for sentence in ner_sentences(data_dir, name, "train"))


def train_tokenizer(data_dir, vocab_size, cased=False):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=not cased, strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=vocab_size, special_tokens=SPECIAL, limit_alphabet=200,
                                        min_frequency=10, show_progress=False)
    texts = vocabulary_texts(data_dir)
    tokenizer.train_from_iterator(itertools.chain(texts, tagged_texts(data_dir)) if cased else texts, trainer)
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", cls), ("[SEP]", sep)])
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    return tokenizer


def save(tokenizer, out_dir, cased=False):
    out_dir.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(out_dir / "tokenizer.json"))
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]",
             "mask_token": "[MASK]"}
    config = {"tokenizer_class": "BertTokenizerFast", "do_lower_case": not cased, "do_basic_tokenize": True,
              "strip_accents": True if cased else None, "tokenize_chinese_chars": True, "clean_up_tokenization_spaces": False,
              "model_max_length": 512, **names}
    (out_dir / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
    (out_dir / "special_tokens_map.json").write_text(json.dumps(names, indent=2) + "\n")
    vocab = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    (out_dir / "vocab.txt").write_text("".join(f"{token}\n" for token, _ in vocab), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--vocab-size", type=int, default=8000)
    parser.add_argument("--cased", action="store_true", help="keep capitals, and count the tagger's texts too")
    args = parser.parse_args()
    save(train_tokenizer(args.data_dir, args.vocab_size, args.cased), args.out_dir, args.cased)


if __name__ == "__main__":
    main()
