"""Writes tiny random GLiClass checkpoints, and the scores that the Python package `gliclass` gives with them.

    python make_gliclass_fixtures.py [--out-dir tests/fixtures/gliclass]

A folder for each: config.json, model.safetensors (float16), and expected.json: for each text the probabilities of LABELS, each
by itself and all together. The tokenizer of all is tokenizer/. Needs requirements-gliner.txt.
"""
import argparse
import json
import tempfile
from pathlib import Path

import safetensors.torch
import tokenizers
import torch
from gliclass import GLiClassModel, GLiClassModelConfig, ZeroShotClassificationPipeline
from transformers import DebertaV2Config, PreTrainedTokenizerFast

from make_gliner_fixtures import DEBERTA, LABELS, TEXTS, generator_of, randomise, write_tokenizer

OUT_DIR = Path(__file__).resolve().parents[1] / "fixtures" / "gliclass"
MARKERS = ("<<LABEL>>", "<<SEP>>", "<<EXAMPLE>>")

CASES = {
    "simple": {},
    "simple-text-first": {"prompt_first": False, "extract_text_features": False},
    "weighted-dot": {"hidden_size": 16, "scorer_type": "weighted-dot", "embed_class_token": False},
    "mlp": {"hidden_size": 16, "scorer_type": "mlp", "extract_text_features": False, "projector_hidden_act": "relu"},
}


def add_markers(folder):
    path = folder / "tokenizer.json"
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.add_tokens([tokenizers.AddedToken(name, normalized=False, special=True) for name in MARKERS])
    tokenizer.save(str(path), pretty=False)


def scores_of(model, tokenizer, text, kind):
    pipe = ZeroShotClassificationPipeline(model, tokenizer, classification_type=kind, device="cpu", progress_bar=False)
    inner = getattr(pipe, "pipe", pipe)
    inputs = inner.prepare_inputs([text], LABELS, same_labels=True)
    with torch.no_grad():
        logits = model(**inputs).logits[0, :len(LABELS)]
    scores = torch.sigmoid(logits) if kind == "multi-label" else torch.softmax(logits, -1)
    if kind == "multi-label":  # What the pipeline itself tells.
        told = {item["label"]: item["score"] for item in pipe([text], LABELS, threshold=0.0)[0]}
        assert all(abs(told[label] - score) < 1e-6 for label, score in zip(LABELS, scores.tolist())), (told, scores)
    return scores.tolist()


def spread(model, tokenizer):
    """Scales what the scores are made of, so that they lie on either side of one half."""
    inner = model.model
    in_scorer = [module for module in inner.scorer.modules() if isinstance(module, torch.nn.Linear)]
    layer = in_scorer[-1] if in_scorer else inner.classes_projector.linear_2
    pipe = ZeroShotClassificationPipeline(model, tokenizer, device="cpu", progress_bar=False)
    with torch.no_grad():
        logits = torch.cat([model(**pipe.pipe.prepare_inputs([text], LABELS, same_labels=True)).logits[0, :len(LABELS)] for text in TEXTS])
        factor = 1.5 / logits.std()
        layer.weight.copy_((layer.weight * factor).half())
        shift = 0 if inner.config.scorer_type == "simple" else logits.mean()
        layer.bias.copy_(((layer.bias - shift) * factor).half())


def write_case(name, out_dir, tokenizer):
    folder = out_dir / name
    folder.mkdir(parents=True, exist_ok=True)
    size = len(tokenizer)
    settings = {"hidden_size": 12, "vocab_size": size, "class_token_index": size - 3, "text_token_index": size - 2,
                "example_token_index": size - 1, "prompt_first": True, "extract_text_features": True, "class_token_pooling": "first",
                "pooling_strategy": "first", "embed_class_token": True, "scorer_type": "simple"} | CASES[name]
    config = GLiClassModelConfig(encoder_config=DebertaV2Config(**{k: v for k, v in DEBERTA.items() if k != "model_type"}, vocab_size=size),
                                 architecture_type="uni-encoder", encoder_model_name="encoder", **settings)
    model = GLiClassModel(config, from_pretrained=False).eval()
    randomise(model, generator_of("gliclass " + name))
    spread(model, tokenizer)
    tensors = {key: value.half().contiguous() for key, value in model.state_dict().items() if not key.endswith("position_ids")}
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with tempfile.TemporaryDirectory() as work:
        config.save_pretrained(work)
        saved = json.loads((Path(work) / "config.json").read_text())
    saved["architectures"] = ["GLiClassModel"]
    (folder / "config.json").write_text(json.dumps(saved, indent=1) + "\n")
    texts = [{"text": text, "each": scores_of(model, tokenizer, text, "multi-label"),
              "together": scores_of(model, tokenizer, text, "single-label")} for text in TEXTS]
    (folder / "expected.json").write_text(json.dumps({"labels": LABELS, "texts": texts}, ensure_ascii=False) + "\n")
    print(name, texts[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out-dir", type=Path, default=OUT_DIR)
    options = parser.parse_args()
    torch.set_num_threads(1)
    folder = options.out_dir / "tokenizer"
    if not (folder / "tokenizer.json").exists():  # training one does not give the same twice
        write_tokenizer(folder, markers=False)
        add_markers(folder)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    for name in CASES:
        write_case(name, options.out_dir, tokenizer)


if __name__ == "__main__":
    main()
