"""Folders as save_pretrained of transformers 4 and 5 writes them, for every tokenizer class and every kind of source.

    python saved_tokenizers.py check --tool BUILD/encode_lines            every folder of the installed release; prints differences
    python saved_tokenizers.py write --out tests/fixtures/tokenizer_folders     saved_4.jsonl or saved_5.jsonl, by the release

A source is what a repository has: the files of a vocabulary, or tokenizer.json. AutoTokenizer opens it, tokens are added or settings
changed as fine-tuning does, save_pretrained writes it, and AutoTokenizer reads it again: what it then gives are the goldens, which
folders_test.cc runs. The vocabularies are small and made here.

Needs requirements.txt for transformers 4, requirements-transformers5.txt for transformers 5.
"""
import argparse
import json
import os
import sys
import tempfile

import tokenizers
import transformers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

import compare_folders
from folder_parts import sentencepiece_model

FIXTURES = compare_folders.FIXTURES
MAJOR = int(transformers.__version__.split(".")[0])
WORDS = "the dog fox and over of quick lazy un brown don t x q".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"
# The type in config.json, the kind of vocabulary, and whether transformers 4 has a tokenizer without tokenizer.json for it.
CLASSES = {
    "BertTokenizer": ("bert", "wordpiece"), "ElectraTokenizer": ("electra", "wordpiece"), "ConvBertTokenizer": ("convbert", "wordpiece"),
    "DistilBertTokenizer": ("distilbert", "wordpiece"), "MPNetTokenizer": ("mpnet", "mpnet"), "DebertaTokenizer": ("deberta", "deberta"),
    "RobertaTokenizer": ("roberta", "roberta"), "DebertaV2Tokenizer": ("deberta-v2", "spm"), "XLMRobertaTokenizer": ("xlm-roberta", "fairseq"),
    "CamembertTokenizer": ("camembert", "fairseq"),
}
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def wordpiece(special):
    rest = [*WORDS, *LETTERS, *("##" + letter for letter in LETTERS), ",", ".", "!", "'", "[", "]"]
    return {"vocab.txt": "\n".join(dict.fromkeys(special + rest)) + "\n"}


def byte_level(special):
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    merges, pieces = [], []
    for word in ["\u0120" + word for word in WORDS[:6]]:
        for end in range(1, len(word)):
            merge = (word[:end], word[end])
            if merge not in merges:
                merges.append(merge)
                pieces.append(word[:end + 1])
    return {"vocab.json": {token: index for index, token in enumerate(special + alphabet + pieces)},
            "merges.txt": "#version: 0.2\n" + "".join("%s %s\n" % merge for merge in merges)}


def pieces():
    words = ["\u2581", *("\u2581" + word for word in WORDS), *LETTERS, ",", ".", "!", "'"]
    return [(word, -float(index) / 4 - 1, 1) for index, word in enumerate(words)]


def vocabulary(kind):
    if kind == "wordpiece":
        return wordpiece(BERT)
    if kind == "mpnet":
        return wordpiece(["<s>", "<pad>", "</s>", "[UNK]", "<mask>"])
    if kind == "deberta":
        return byte_level(["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"])
    if kind == "roberta":
        return byte_level(ROBERTA)
    if kind == "spm":
        special = [("[PAD]", 0, 3), ("[CLS]", 0, 3), ("[SEP]", 0, 3), ("[UNK]", 0, 2)]
        return {"spm.model": sentencepiece_model(1, special + pieces(), 3)}
    special = [("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3)]
    return {"sentencepiece.bpe.model": sentencepiece_model(1, special + pieces(), 0)}


def plain_json():
    """A tokenizer of no class of transformers: PreTrainedTokenizerFast, which transformers 5 calls TokenizersBackend."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: i for i, word in enumerate(BERT + WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
                                                                        special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return tokenizer


def as_is(tokenizer):
    return tokenizer


def with_tokens(tokenizer):
    """What a GLiNER or an entity marker does."""
    tokenizer.add_special_tokens({"additional_special_tokens": ["<<ENT>>", "[E1]"]})
    tokenizer.add_tokens(["foxes"])
    return tokenizer


def with_special(tokenizer):
    """What GLiClass and many training scripts do: the tokens that are there already, listed as additional ones."""
    tokenizer.add_special_tokens({"additional_special_tokens": [tokenizer.pad_token, tokenizer.cls_token, tokenizer.sep_token]})
    return tokenizer


def with_settings(tokenizer):
    tokenizer.model_max_length = 40
    tokenizer.truncation_side = "left"
    return tokenizer


CHANGES = {"plain": as_is, "tokens": with_tokens, "special": with_special, "settings": with_settings}


def sources(root):
    """(name, the tokenizer that is to be saved, model_type): from files of a vocabulary, then from tokenizer.json."""
    for name, (model_type, kind) in CLASSES.items():
        path = os.path.join(root, name)
        compare_folders.write_folder(path, {"config.json": {"model_type": model_type}, **vocabulary(kind)})
        for change in CHANGES:
            yield "%s-%s" % (name, change), lambda path=path: AutoTokenizer.from_pretrained(path), change, model_type
        again = os.path.join(root, name + "-json")
        AutoTokenizer.from_pretrained(path).save_pretrained(again)
        with open(os.path.join(again, "config.json"), "w", encoding="utf-8") as file:
            json.dump({"model_type": model_type}, file)
        yield "%s-json" % name, lambda path=again: AutoTokenizer.from_pretrained(path), "tokens", model_type
        if MAJOR == 4:
            yield "%s-slow" % name, lambda path=path: AutoTokenizer.from_pretrained(path, use_fast=False), "tokens", model_type
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    for change in CHANGES:
        yield "PreTrainedTokenizerFast-%s" % change, lambda: PreTrainedTokenizerFast(tokenizer_object=plain_json(), **names), change, "bert"


def saved_folders(root):
    for name, tokenizer, change, model_type in sources(os.path.join(root, "sources")):
        path = os.path.join(root, name)
        CHANGES[change](tokenizer()).save_pretrained(path)
        with open(os.path.join(path, "config.json"), "w", encoding="utf-8") as file:
            json.dump({"model_type": model_type}, file)
        yield "saved-by-%d-%s" % (MAJOR, name), path, sorted(os.listdir(path))


class Saved:
    """As folder_parts.Folder, of a folder that is there."""

    refused = None

    def __init__(self, name, path, files):
        self.name, self.files, self.written = name, files, {}
        if "tokenizer.json" in files:  # Which goes before the files of the vocabulary.
            files = [file for file in files if file.endswith(".json") and file not in ("vocab.json", "added_tokens.json")]
        for file in files:
            with open(os.path.join(path, file), "rb") as source:
                data = source.read()
            if file.endswith(".json"):
                self.written[file] = json.loads(data)
                self.written[file].pop("name_or_path", None)
            elif file.endswith(".txt"):
                self.written[file] = data.decode()
            else:
                self.written[file] = "hex:" + data.hex()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["check", "write"])
    parser.add_argument("--tool")
    parser.add_argument("--out")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    cases = json.load(open(os.path.join(FIXTURES, "tokenizer_folders", "cases.json"), encoding="utf-8"))
    lines, passed = [], 0
    with tempfile.TemporaryDirectory() as root:
        for name, path, files in saved_folders(root):
            if options.only not in name:
                continue
            folder = Saved(name, path, files)
            if options.mode == "check":
                passed += compare_folders.check_folder(options.tool, folder, path, cases, None)
            golden = compare_folders.golden(folder, path, cases)
            assert "refused" not in golden, name
            lines.append(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n")
    if options.mode == "check":
        print("%d of %d folders agree" % (passed, len(lines)))
        sys.exit(passed != len(lines))
    with open(os.path.join(options.out, "saved_%d.jsonl" % MAJOR), "w", encoding="utf-8") as file:
        file.writelines(lines)


if __name__ == "__main__":
    main()
