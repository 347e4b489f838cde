"""Writes what transformers' pipelines return for texts that are empty or only white space, with the models of models/.

    python make_empty_text_goldens.py [--out tests/fixtures/pipelines/empty.json]

Needs requirements.txt.
"""
import argparse
import json
from pathlib import Path

import torch
import transformers
from transformers import pipeline

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ["", " \n"]
LABELS = ["sport", "art"]


def model(name):
    return str(ROOT / "models" / f"peruse-{name}-tiny")


def goldens():
    classify = pipeline("text-classification", model("sentiment-convbert"), dtype=torch.float32)
    extract = pipeline("feature-extraction", model("sentiment-convbert"), dtype=torch.float32)
    choose = pipeline("zero-shot-classification", model("zero-shot-deberta"), dtype=torch.float32)
    hypotheses = [f"This example is {label}." for label in LABELS]
    for text in TEXTS:
        yield {"task": "text-classification", "model": "sentiment-convbert", "text": text, "expected": classify(text)}
        for strategy in ("none", "simple"):
            tag = pipeline("token-classification", model("tagger-convbert"), aggregation_strategy=strategy)
            yield {"task": "token-classification", "model": "tagger-convbert", "text": text,
                   "options": {"aggregation_strategy": strategy}, "expected": tag(text)}
        rows = [row[:4] for row in extract(text)[0]]
        yield {"task": "feature-extraction", "model": "sentiment-convbert", "text": text, "expected": rows}
        # The pipeline throws a ValueError for an empty text, unlike transformers.js's: this is what it does with other texts.
        inputs = choose.tokenizer([text] * len(LABELS), hypotheses, padding=True, return_tensors="pt")
        with torch.no_grad():
            scores = choose.model(**inputs).logits[:, choose.entailment_id].softmax(-1).tolist()
        yield {"task": "zero-shot-classification", "model": "zero-shot-deberta", "text": text, "labels": LABELS, "expected": scores}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=ROOT / "tests/fixtures/pipelines/empty.json")
    out = parser.parse_args().out
    cases = [{**case, "expected": json.loads(json.dumps(case["expected"], default=float))} for case in goldens()]
    out.write_text(json.dumps({"transformers": transformers.__version__, "cases": cases}, indent=1) + "\n")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
