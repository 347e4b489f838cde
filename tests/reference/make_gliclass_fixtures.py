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
from transformers import DebertaV2Config, ModernBertConfig, PreTrainedTokenizerFast

from make_gliner_fixtures import DEBERTA, LABELS, LABELS_BERT, MODERNBERT, TEXTS, generator_of, randomise, write_tokenizer

OUT_DIR = Path(__file__).resolve().parents[1] / "fixtures" / "gliclass"
MARKERS = ("<<LABEL>>", "<<SEP>>", "<<EXAMPLE>>")

CASES = {
    "simple": {},
    "simple-text-first": {"prompt_first": False, "extract_text_features": False},
    "weighted-dot": {"hidden_size": 16, "scorer_type": "weighted-dot", "embed_class_token": False},
    "mlp": {"hidden_size": 16, "scorer_type": "mlp", "extract_text_features": False, "projector_hidden_act": "relu"},
    "hopfield": {"hidden_size": 16, "scorer_type": "hopfield"},
    "cross-attn": {"hidden_size": 16, "scorer_type": "cross-attn", "pooling_strategy": "pass", "scorer_num_heads": 4,
                   "scorer_mlp_hidden_size": 24},
    "cross-attn-text-first": {"hidden_size": 16, "scorer_type": "cross-attn", "pooling_strategy": "pass", "scorer_num_heads": 2,
                              "scorer_mlp_hidden_size": 24, "prompt_first": False, "extract_text_features": False},
    "average": {"class_token_pooling": "average"},
    "average-to-the-end": {"class_token_pooling": "average", "extract_text_features": False, "embed_class_token": False},
    "normalize": {"normalize_features": True, "pooling_strategy": "avg"},
    "lstm": {"hidden_size": 16, "use_lstm": True, "pooling_strategy": "max"},
    "lstm-all": {"hidden_size": 16, "use_lstm": True, "pooling_strategy": "last", "extract_text_features": False},
    "segments": {"use_segment_embeddings": True},
    "layer": {"layers": 2, "layer_wise": True, "encoder_layer_id": -2, "pooling_strategy": "rms"},
    "modernbert": {"modernbert": True},
    "modernbert-average": {"modernbert": True, "class_token_pooling": "average", "scorer_type": "weighted-dot", "hidden_size": 16},
    "bi": {"architecture_type": "bi-encoder"},
    "bi-normalize": {"architecture_type": "bi-encoder", "normalize_features": True, "scorer_type": "weighted-dot", "hidden_size": 16},
    "bi-fused": {"architecture_type": "bi-encoder-fused"},
    "bi-fused-normalize": {"architecture_type": "bi-encoder-fused", "normalize_features": True, "scorer_type": "weighted-dot",
                           "hidden_size": 16, "prompt_first": False},
}
CASES |= {f"pool-{kind}": {"pooling_strategy": kind} for kind in ("last", "avg", "sum", "max", "abs_max", "abs_avg")}
CASES |= {f"pool-{kind}-all": {"pooling_strategy": kind, "extract_text_features": False} for kind in ("last", "max")}
LABELS_TOKENIZER = OUT_DIR.parent / "gliner" / "labels"


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
    """Scales the inputs of the scores, so that scores are on both sides of one half."""
    inner = model.model
    in_scorer = [module for module in inner.scorer.modules() if isinstance(module, torch.nn.Linear)]
    layer = in_scorer[-1] if in_scorer else inner.classes_projector.linear_2
    pipe = ZeroShotClassificationPipeline(model, tokenizer, device="cpu", progress_bar=False)
    with torch.no_grad():
        logits = torch.cat([model(**pipe.pipe.prepare_inputs([text], LABELS, same_labels=True)).logits[0, :len(LABELS)] for text in TEXTS])
        factor = 1.5 / logits.std()
        layer.weight.copy_((layer.weight * factor).half())
        scaled = inner.config.normalize_features or inner.config.architecture_type != "uni-encoder"
        shift = 0 if inner.config.scorer_type == "simple" else logits.mean() / (inner.logit_scale if scaled else 1)
        layer.bias.copy_(((layer.bias - shift) * factor).half())


def write_case(name, out_dir, tokenizer):
    folder = out_dir / name
    folder.mkdir(parents=True, exist_ok=True)
    size = len(tokenizer)
    settings = {"hidden_size": 12, "vocab_size": size, "class_token_index": size - 3, "text_token_index": size - 2,
                "example_token_index": size - 1, "prompt_first": True, "extract_text_features": True, "class_token_pooling": "first",
                "pooling_strategy": "first", "embed_class_token": True, "scorer_type": "simple"} | CASES[name]
    layers = settings.pop("layers", 1)
    architecture = settings.pop("architecture_type", "uni-encoder")
    if architecture != "uni-encoder":
        labels = len(PreTrainedTokenizerFast.from_pretrained(LABELS_TOKENIZER))
        settings |= {"label_model_name": str(LABELS_TOKENIZER), "label_model_config": LABELS_BERT | {"vocab_size": labels}}
    encoder = DebertaV2Config(**{k: v for k, v in DEBERTA.items() if k != "model_type"} | {"num_hidden_layers": layers}, vocab_size=size)
    if settings.pop("modernbert", False):
        encoder = ModernBertConfig(**{k: v for k, v in MODERNBERT.items() if k != "model_type"}, vocab_size=size)
    config = GLiClassModelConfig(encoder_config=encoder, architecture_type=architecture, encoder_model_name="encoder", **settings)
    model = GLiClassModel(config, from_pretrained=False).eval()
    randomise(model, generator_of("gliclass " + name))
    spread(model, tokenizer)
    tensors = {key: value.half().contiguous() for key, value in model.state_dict().items() if not key.endswith("position_ids")}
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with tempfile.TemporaryDirectory() as work:
        config.save_pretrained(work)
        saved = json.loads((Path(work) / "config.json").read_text())
    saved["architectures"] = ["GLiClassModel"]
    if "label_model_name" in settings:
        saved["label_model_name"] = "BAAI/bge-small-en-v1.5"
    (folder / "config.json").write_text(json.dumps(saved, indent=1) + "\n")
    texts = [{"text": text, "each": scores_of(model, tokenizer, text, "multi-label"),
              "together": scores_of(model, tokenizer, text, "single-label")} for text in TEXTS]
    (folder / "expected.json").write_text(json.dumps({"labels": LABELS, "texts": texts}, ensure_ascii=False) + "\n")
    print(name, texts[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out-dir", type=Path, default=OUT_DIR)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    options = parser.parse_args()
    torch.set_num_threads(1)
    folder = options.out_dir / "tokenizer"
    if not (folder / "tokenizer.json").exists():  # training one does not give the same twice
        write_tokenizer(folder, markers=False)
        add_markers(folder)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    for name in options.only:
        has_segments = not CASES[name].get("modernbert", False)
        tokenizer.model_input_names = ["input_ids", "attention_mask"] + ["token_type_ids"] * has_segments
        write_case(name, options.out_dir, tokenizer)


if __name__ == "__main__":
    main()
