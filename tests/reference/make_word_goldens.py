"""Runs transformers' token-classification pipeline over lists of words (is_split_into_words), with the models of tests/fixtures/pipelines.

    python make_word_goldens.py

Writes tests/fixtures/pipelines/words.json. Offsets are code points of the words with a space between them. The class of DeBERTa 1 refuses
words, because its tokenizer does not add a space before each.

Needs what tools/train/requirements.txt names.
"""
import json
from pathlib import Path

import safetensors.torch
import torch
import transformers

from make_pipeline_fixtures import plain

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
FOLDER = FIXTURES / "pipelines"
WORDS = [["Zoë", "met", "Mr.", "O'Neill", "in", "Berlin", ",", "Germany", ",", "on", "Monday", "!"],
         ["Anna", "Schmidt", "works", "for", "the", "", "United Nations", "in", "Genève", "🎉", "and", "lives", "in", "Thun."],
         ["東京", "は", "日本", "の", "首都", "です", "。"], ["unbelievable"]]
LIMIT = {"model_max_length": 96}
FAMILIES = {
    "convbert": lambda: transformers.ConvBertTokenizerFast(vocab_file=str(FIXTURES / "tokenizer/bert.vocab.txt"), **LIMIT),
    "deberta-v2": lambda: transformers.DebertaV2TokenizerFast(tokenizer_file=str(FOLDER / "deberta-v2/tokenizer.json"), **LIMIT),
}


def model_of(family):
    config = json.loads((FOLDER / family / "token.config.json").read_text())
    model_class = getattr(transformers, config["architectures"][0])
    model = model_class._from_config(model_class.config_class(**config), attn_implementation="eager").eval()
    tensors = {}
    for name in ("base", "token"):
        tensors |= safetensors.torch.load_file(FOLDER / family / f"{name}.safetensors")
    missing, unexpected = model.load_state_dict({key: value.float() for key, value in tensors.items()}, strict=False)
    assert not unexpected and all("position_ids" in name for name in missing), (missing, unexpected)
    return model


def main():
    torch.set_num_threads(1)
    cases = []
    for family, tokenizer in FAMILIES.items():
        pipe = transformers.pipeline("token-classification", model=model_of(family), tokenizer=tokenizer(), device="cpu")
        for strategy in ("none", "simple", "first", "max", "average"):
            for words in WORDS:
                options = {"aggregation_strategy": strategy, "ignore_labels": []}
                found = pipe([words], is_split_into_words=True, **options)[0]
                cases.append({"family": family, "words": words, "options": options, "expected": plain(found)})
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    head = json.dumps({"transformers": transformers.__version__})[:-1]
    (FOLDER / "words.json").write_text(f'{head}, "cases": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
