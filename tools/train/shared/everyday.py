"""Scores on models/everyday.jsonl: short texts of the kind that visitors type, written before any model was tried on them.

An answer is right if it equals an expected one after SQuAD's normalisation, a label if it is the best, names if exactly the expected
ones are found, each with its type (dates and other details are not counted).
"""

import json

from transformers import AutoTokenizer, pipeline

from shared.entities import TYPES
from shared.reading import normalise
from shared.templates import MODELS

FILE = MODELS / "everyday.jsonl"
PIPELINES = {"reader": "question-answering", "sentiment": "text-classification", "tagger": "token-classification",
             "zero-shot": "zero-shot-classification"}


def answer(run, name, item):
    if name == "question-answering":
        said = run(question=item["question"], context=item["passage"])["answer"]
        return said, normalise(said) in [normalise(text) for text in item["answers"]]
    if name == "text-classification":
        said = run(item["text"])[0]["label"]
        return said, said == item["label"]
    if name == "zero-shot-classification":
        said = run(item["text"], item["labels"])["labels"][0]
        return said, said == item["label"]
    found = [(item["text"][one["start"]:one["end"]], one["entity_group"]) for one in run(item["text"], aggregation_strategy="average")]
    said = [list(one) for one in found if one[1] in TYPES]
    return said, sorted(said) == sorted([one["text"], one["type"]] for one in item["entities"])


def score(task, model, model_dir):
    name = PIPELINES[task]
    items = [item for item in map(json.loads, FILE.read_text(encoding="utf-8").splitlines()) if item["task"] == name]
    run = pipeline(name, model=model.eval(), tokenizer=AutoTokenizer.from_pretrained(model_dir), device="cpu")
    wrong, right = [], 0
    for item in items:
        said, is_right = answer(run, name, item)
        right += is_right
        if not is_right:
            wrong.append({"asked": item.get("question", item.get("text")), "said": said})
    return {"right": right, "of": len(items), "wrong": wrong}
