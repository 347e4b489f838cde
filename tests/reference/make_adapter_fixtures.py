"""Writes LoRA adapters for a tiny checkpoint, and the checkpoint with each of them merged in by peft.

    pip install --no-deps -r requirements-adapters.txt
    python make_adapter_fixtures.py

Arguments name the cases to write; without arguments all are written. tests/fixtures/adapters/<case>/adapter_config.json and
adapter_model.safetensors change tests/fixtures/tiny/<base>, in float32; merged.safetensors is what peft's merge_and_unload makes of the two.
"""

import shutil
import sys
from pathlib import Path

import peft
import torch
import transformers
from safetensors.torch import save_file

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
FOLDER = FIXTURES / "adapters"

CASES = {
    # peft does this for text classification: it trains the head, too, and saves it whole.
    "linear": ("deberta-v2-sequence", transformers.AutoModelForSequenceClassification, dict(
        task_type="SEQ_CLS", r=4, lora_alpha=8, target_modules=["query_proj", "value_proj"])),
    "patterns": ("bert-token", transformers.AutoModelForTokenClassification, dict(
        task_type="TOKEN_CLS", r=2, lora_alpha=3, use_rslora=True, target_modules=["query", "key", "dense"],
        rank_pattern={"key": 3}, alpha_pattern={"key": 7, "attention.output.dense": 5})),
    "embeddings": ("electra-sequence", transformers.AutoModel, dict(
        task_type="FEATURE_EXTRACTION", r=3, lora_alpha=6, bias="all",
        target_modules=["word_embeddings", "query", "embeddings_project"])),
    # The first matching key counts. Keys are regular expressions: a dot matches any character.
    "keys": ("bert-token", transformers.AutoModelForTokenClassification, dict(
        task_type="TOKEN_CLS", r=2, lora_alpha=3, target_modules=["query", "key", "value", "dense"],
        rank_pattern={r".*\.0\..*\.key": 3, "key": 1},
        alpha_pattern={"layer.0.attention.self.query": 7, "query": 5, r".*(key|value)": 11, "value": 2, "output.dense": 13, "attention.output.dense": 17})),
    "dora": ("deberta-v2-sequence", transformers.AutoModelForSequenceClassification, dict(
        task_type="SEQ_CLS", r=4, lora_alpha=8, use_dora=True, target_modules=["query_proj", "value_proj", "dense"])),
    "lora-bias": ("electra-sequence", transformers.AutoModelForSequenceClassification, dict(
        task_type="SEQ_CLS", r=2, lora_alpha=6, lora_bias=True, use_rslora=True, target_modules=["query", "intermediate.dense"])),
    # A weight that stacks queries, keys and values, and one that stacks both halves of a gated layer.
    "modernbert": ("modernbert-sequence", transformers.AutoModelForSequenceClassification, dict(
        task_type="SEQ_CLS", r=3, lora_alpha=6, target_modules=["Wqkv", "Wo", "Wi"])),
    # peft's tutorial of token classification: a base without head, a number of labels, all biases.
    "labels": ("deberta-v2-bare", transformers.AutoModelForTokenClassification, dict(
        task_type="TOKEN_CLS", r=2, lora_alpha=4, bias="all", target_modules=["query_proj"])),
    # The same on a base with a head: the file also has its old bias.
    "second": ("bert-token", transformers.AutoModelForTokenClassification, dict(
        task_type="TOKEN_CLS", r=2, lora_alpha=4, bias="all", target_modules=["query", "value"])),
    # Trained after tokens were added (resize_token_embeddings): peft then saves the embeddings, too, as a plain tensor, ...
    "resized": ("bert-token", transformers.AutoModelForTokenClassification, dict(
        task_type="TOKEN_CLS", r=2, lora_alpha=4, target_modules=["query", "value"])),
    # ... as the base of factors, ...
    "resized-factors": ("electra-sequence", transformers.AutoModelForSequenceClassification, dict(
        task_type="SEQ_CLS", r=2, lora_alpha=4, target_modules=["word_embeddings", "query"])),
    # ... as a module that is saved whole, ...
    "resized-module": ("bert-token", transformers.AutoModelForTokenClassification, dict(
        task_type="TOKEN_CLS", r=2, lora_alpha=4, target_modules=["query"], modules_to_save=["word_embeddings", "classifier"])),
    # ... with the decoder that shares the tensor, or has its own.
    "resized-tied": ("bert-masked-lm", transformers.AutoModelForMaskedLM, dict(r=2, lora_alpha=4, target_modules=["query", "value"])),
    "resized-untied": ("bert-masked-lm-untied", transformers.AutoModelForMaskedLM, dict(r=2, lora_alpha=4, target_modules=["query"])),
}
LABELS = {"labels": 5}
ADDED_TOKENS = 3  # in the cases that begin with "resized"


def randomise(model):
    """Changes all trained values: both factors, whole tensors, and biases."""
    generator = torch.Generator().manual_seed(7)
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            parameter.data = 0.3 * torch.randn(parameter.shape, generator=generator)


def load(case, base, auto_class, more):
    model = auto_class.from_pretrained(FIXTURES / "tiny" / base, dtype=torch.float32, **more)
    if case.startswith("resized"):
        torch.manual_seed(11)
        model.resize_token_embeddings(model.config.vocab_size + ADDED_TOKENS, mean_resizing=False)
    return model


def main():
    for case, (base, auto_class, options) in CASES.items():
        if sys.argv[1:] and case not in sys.argv[1:]:
            continue
        more = {"num_labels": LABELS[case]} if case in LABELS else {}
        model = load(case, base, auto_class, more)
        model = peft.get_peft_model(model, peft.LoraConfig(**options))
        randomise(model)
        folder = FOLDER / case
        shutil.rmtree(folder, ignore_errors=True)
        model.peft_config["default"].base_model_name_or_path = f"tests/fixtures/tiny/{base}"  # Removes this machine's path.
        model.save_pretrained(folder)
        (folder / "README.md").unlink(missing_ok=True)
        # Reloads, because peft sorts the keys of the patterns when it saves.
        again = load(case, base, auto_class, more)
        merged = peft.PeftModel.from_pretrained(again, folder).merge_and_unload().state_dict()
        merged = {name: value.contiguous().clone() for name, value in merged.items() if value.is_floating_point()}
        save_file(merged, folder / "merged.safetensors")
        print(case, sorted(path.name for path in folder.iterdir()), sum(path.stat().st_size for path in folder.iterdir()))


if __name__ == "__main__":
    main()
