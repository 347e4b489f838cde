"""Writes LoRA adapters for a tiny checkpoint, and the checkpoint with each of them merged in by peft.

    pip install --no-deps -r requirements-adapters.txt
    python make_adapter_fixtures.py

tests/fixtures/adapters/<case>/adapter_config.json and adapter_model.safetensors change tests/fixtures/tiny/<base>, in float32;
merged.safetensors is what peft's merge_and_unload makes of the two.
"""

import shutil
from pathlib import Path

import peft
import torch
import transformers
from safetensors.torch import save_file

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
FOLDER = FIXTURES / "adapters"

CASES = {
    # As peft does by itself for text classification: the head is trained along and saved whole.
    "linear": ("deberta-v2-sequence", transformers.AutoModelForSequenceClassification, dict(
        task_type="SEQ_CLS", r=4, lora_alpha=8, target_modules=["query_proj", "value_proj"])),
    "patterns": ("bert-token", transformers.AutoModelForTokenClassification, dict(
        task_type="TOKEN_CLS", r=2, lora_alpha=3, use_rslora=True, target_modules=["query", "key", "dense"],
        rank_pattern={"key": 3}, alpha_pattern={"key": 7, "attention.output.dense": 5})),
    "embeddings": ("electra-sequence", transformers.AutoModel, dict(
        task_type="FEATURE_EXTRACTION", r=3, lora_alpha=6, bias="all",
        target_modules=["word_embeddings", "query", "embeddings_project"])),
}


def randomise(model):
    """Trained: both factors, what is saved whole, and biases differ from where they start."""
    generator = torch.Generator().manual_seed(7)
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            parameter.data = 0.3 * torch.randn(parameter.shape, generator=generator)


def main():
    for case, (base, auto_class, options) in CASES.items():
        model = auto_class.from_pretrained(FIXTURES / "tiny" / base, dtype=torch.float32)
        model = peft.get_peft_model(model, peft.LoraConfig(**options))
        randomise(model)
        folder = FOLDER / case
        shutil.rmtree(folder, ignore_errors=True)
        model.peft_config["default"].base_model_name_or_path = f"tests/fixtures/tiny/{base}"  # Not where it lies on this machine.
        model.save_pretrained(folder)
        (folder / "README.md").unlink(missing_ok=True)
        merged = model.merge_and_unload().state_dict()
        merged = {name: value.contiguous().clone() for name, value in merged.items() if value.is_floating_point()}
        save_file(merged, folder / "merged.safetensors")
        print(case, sorted(path.name for path in folder.iterdir()), sum(path.stat().st_size for path in folder.iterdir()))


if __name__ == "__main__":
    main()
