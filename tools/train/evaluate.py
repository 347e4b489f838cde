"""Scores of a saved demo model, read back through transformers' own loaders.

    python evaluate.py --task sentiment|reader|tagger|zero-shot --model-dir DIR [--data-dir DATA] [--dev]

The test halves are for reporting only; nothing was trained on them, or chosen by them but where a model's card says so. `--dev` leaves
them out.
"""

import argparse
import json
import random
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoTokenizer, pipeline

import sentiment
import tagger
import zero_shot
from export_model import load
from shared import attention, reading, redaction
from shared.entities import NER_SETS, TYPES, f1, ner_sentences, total_f1
from shared.facts import FactMaker
from shared.remarks import RemarkMaker, everyday_rows
from shared.sorting import everyday_rows as everyday_sorting, held_out_messages
from shared.templates import MODELS
from shared.texts import DEFAULT_DATA_DIR, SENTIMENT_SETS, read_squad, reader_rows, sentiment_rows
from shared.zero_shot_texts import label_table, labelled_sets


def evaluate_sentiment(model, tokenizer, data_dir, splits):
    result = {}
    for name in SENTIMENT_SETS:
        for split in splits:
            items = sentiment.encode(tokenizer, sentiment_rows(data_dir, name, split.replace("test", "test-halfA")))
            result[f"{name} {split}"] = {"accuracy": round(sentiment.accuracy(model, items), 2), "texts": len(items)}
    maker = RemarkMaker("dev", random.Random(4))
    held_out = [row for row in (maker.remark() for _ in range(600)) if row[0] != 0.5]
    for name, rows in (("held-out remarks", held_out), ("everyday remarks", everyday_rows())):
        items = sentiment.encode(tokenizer, rows)
        sure = sentiment.sureness(model, items)
        right = sentiment.predict(model, items).argmax(1) == np.array([label for _, label in items])
        result[name] = {"right": int(right.sum()), "of": len(rows), "right or not sure, wrong, by threshold": {
            limit: [int((right | (sure < limit)).sum()), int((~right & (sure >= limit)).sum())] for limit in (0.5, 0.6, 0.65, 0.7, 0.75, 0.8)}}
    result["everyday remarks"]["wrong"] = [[text, round(float(chance), 2)] for (_, text), chance, one in zip(rows, sure, right) if not one]
    return result


def evaluate_reader(model, tokenizer, data_dir, splits):
    attention.use()
    sets = {f"{name} {part}": rows for part in splits for name, rows in reader_rows(data_dir, part).items()}
    if "test" in splits:
        sets["qed-nq half A"] = read_squad(data_dir / "qa-english" / "qed-nq-halfA.json.gz")
        sets["squad v1.1 dev half A"] = read_squad(data_dir / "squad" / "dev-v1.1-halfA.json.gz")
    result = {}
    for name, rows in sets.items():
        exact, f1_of_all = reading.scores(reading.predict(model, tokenizer, rows), rows)
        result[name] = {"exact": round(exact, 2), "f1": round(f1_of_all, 2), "questions": len(rows)}
    result["every fifth of the last"] = reading.measure(model, tokenizer, list(sets.values())[-1][::5])
    result["made-up passages"] = reading.of_facts(model, tokenizer, FactMaker("dev", random.Random(3)).rows(1000))
    if "test" in splits:
        rows = [row for row in read_squad(data_dir / "squad" / "dev-v2.0-halfA.json.gz") if not row["answers"]]
        result["squad v2.0 dev half A, unanswerable: declined"] = reading.declined(reading.predict(model, tokenizer, rows))
    return result


def evaluate_tagger(model, tokenizer, data_dir, splits):
    result = {}
    for part in splits:
        for name in NER_SETS:
            sentences = ner_sentences(data_dir, name, part)
            counts = tagger.measure(model, tokenizer, sentences, name)
            right, predicted, gold = (sum(column) for column in zip(*counts.values()))
            result[f"{name} {part}"] = {
                "f1": round(total_f1(counts), 1), "precision": round(100 * right / max(predicted, 1), 1),
                "recall": round(100 * right / max(gold, 1), 1), "entities": gold, "sentences": len(sentences),
                "by type": {kind: round(f1(*count), 1) for kind, count in counts.items()}}
    result["held-out messages, by threshold"] = {str(limit): row for limit, row in redaction.HeldOut(data_dir).measure(model, tokenizer).items()}
    result["everyday messages"], result["missed or marked wrongly"] = redaction.everyday(model, tokenizer)
    return result


def zero_shot_parts(data_dir, split, most=400):
    """{what: (texts, labels to choose from)}: of labels that were trained on; then the same of labels that were not."""
    table, sets = label_table(), labelled_sets(data_dir, split)
    parts = {}
    for part, word in (("train", "known"), ("test", "new")):
        for name in sets:
            rows, names = zero_shot.rows_of(sets, table, name, part, most)
            if rows and len(names) > 1:
                parts[f"{name}, {word} labels"] = rows, names
    cars = [row for row in sets["clinc150-domains"] if table["clinc150-domains"][row.labels[0]][0] == "test"]
    all_domains = {key: names[0] for key, (_, names) in table["clinc150-domains"].items()}
    parts["clinc150-domains, texts of the new one"] = cars, all_domains
    return parts


def sorted_everyday(model, tokenizer):
    """How many of the messages to sort get the right label, and those that do not, with what they get."""
    said = [(text, names[zero_shot.predict(model, tokenizer, [text], names)[0]], label) for text, names, label in everyday_sorting()]
    wrong = [[text, name] for text, name, label in said if name != label]
    return {"right": len(said) - len(wrong), "of": len(said), "wrong": wrong}


def evaluate_zero_shot(model, tokenizer, data_dir, splits):
    attention.use()
    result = {}
    for split in splits:
        for what, (rows, names) in zero_shot_parts(data_dir, split).items():
            result[f"{what}, {split}"] = {"texts": len(rows), "labels": len(names), "accuracy": round(zero_shot.accuracy(model, tokenizer, rows, names), 1)}
    if "dev" in splits:
        result["messages of held-out templates"] = zero_shot.message_scores(model, tokenizer, *held_out_messages(200))
    result["everyday messages"] = sorted_everyday(model, tokenizer)
    return result


PIPELINES = {"reader": "question-answering", "sentiment": "text-classification", "tagger": "token-classification",
             "zero-shot": "zero-shot-classification"}


def answer(run, name, item):
    if name == "question-answering":
        said = run(question=item["question"], context=item["passage"])["answer"]
        return said, reading.normalise(said) in [reading.normalise(text) for text in item["answers"]]
    if name == "text-classification":
        said = run(item["text"])[0]["label"]
        return said, said == item["label"]
    if name == "zero-shot-classification":
        said = run(item["text"], item["labels"])["labels"][0]
        return said, said == item["label"]
    found = [(item["text"][one["start"]:one["end"]], one["entity_group"]) for one in run(item["text"], aggregation_strategy="average")]
    said = [list(one) for one in found if one[1] in TYPES]
    return said, sorted(said) == sorted([one["text"], one["type"]] for one in item["entities"])


def score_everyday(task, model, model_dir):
    """Scores on models/everyday.jsonl, texts that were written before any model was tried on them. Names are right if exactly the expected ones are found, each with its type."""
    name = PIPELINES[task]
    items = [item for item in map(json.loads, (MODELS / "everyday.jsonl").read_text(encoding="utf-8").splitlines()) if item["task"] == name]
    run = pipeline(name, model=model.eval(), tokenizer=AutoTokenizer.from_pretrained(model_dir), device="cpu")
    wrong, right = [], 0
    for item in items:
        said, is_right = answer(run, name, item)
        right += is_right
        if not is_right:
            wrong.append({"asked": item.get("question", item.get("text")), "said": said})
    return {"right": right, "of": len(items), "wrong": wrong}


EVALUATE = {"sentiment": evaluate_sentiment, "reader": evaluate_reader, "tagger": evaluate_tagger, "zero-shot": evaluate_zero_shot}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--task", choices=list(EVALUATE), required=True)
    parser.add_argument("--model-dir", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--dev", action="store_true", help="leave the test halves unseen")
    args = parser.parse_args()
    torch.set_num_threads(1)
    model, tokenizer = load(args.model_dir), Tokenizer.from_file(str(args.model_dir / "tokenizer.json"))
    result = EVALUATE[args.task](model, tokenizer, args.data_dir, ["dev"] if args.dev else ["dev", "test"])
    result["everyday"] = score_everyday(args.task, model, args.model_dir)
    print(json.dumps(result, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
