"""Scores of a saved demo model, read back through transformers' own loaders.

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
from transformers import PreTrainedTokenizerFast, pipeline

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


def evaluate_zero_shot(model, tokenizer, data_dir, splits):
    attention.use()
    result = {}
    for split in splits:
        for what, (rows, names) in zero_shot_parts(data_dir, split).items():
            result[f"{what}, {split}"] = {"texts": len(rows), "labels": len(names), "accuracy": round(zero_shot.accuracy(model, tokenizer, rows, names), 1)}
    if "dev" in splits:
        result["messages of held-out templates"] = zero_shot.message_scores(model, tokenizer, *held_out_messages(200))
    result["everyday messages"] = sorted_right(model, tokenizer, everyday_sorting())
    return result


def sorted_right(model, tokenizer, messages):
    """How many messages get the right label, and those that do not, with what they get. `messages` are (text, labels, the right one)."""
    said = [(text, names[zero_shot.predict(model, tokenizer, [text], names)[0]], label) for text, names, label in messages]
    wrong = [[text, name] for text, name, label in said if name != label]
    return {"right": len(said) - len(wrong), "of": len(said), "wrong": wrong}


def written_messages(model, tokenizer, items):
    return sorted_right(model, tokenizer, [(item["text"], item["labels"], item["label"]) for item in items])


def written_questions(model, tokenizer, items):
    rows = [{"question": item["question"], "context": item["passage"], "answers": [(0, text) for text in item["answers"]]} for item in items]
    said = [(row, text, none > 1) for row, (text, none) in zip(rows, reading.predict(model, tokenizer, rows))]
    answerable, others = [one for one in said if one[0]["answers"]], [one for one in said if not one[0]["answers"]]
    right = [reading.exact_and_f1(text, [gold for _, gold in row["answers"]])[0] == 1 for row, text, _ in answerable]
    return {"right": sum(right), "right where it may decline": sum(one and not declines for one, (*_, declines) in zip(right, answerable)), "of": len(right),
            "declined": sum(declines for *_, declines in answerable), "declined, of those without an answer": [sum(declines for *_, declines in others), len(others)],
            "wrong": [[row["question"], text] for one, (row, text, _) in zip(right, answerable) if not one],
            "answered without an answer": [[row["question"], text] for row, text, declines in others if not declines]}


def written_opinions(model, tokenizer, items):
    """Texts that say neither are right where the better score is below 0.65."""
    logits = torch.from_numpy(sentiment.predict(model, sentiment.encode(tokenizer, [(0, item["text"]) for item in items])))
    found = [(item["label"], item["text"], round(chance, 2)) for item, chance in zip(items, torch.softmax(logits, 1)[:, 1].tolist())]
    wrong = [one for one in found if (max(one[2], 1 - one[2]) >= 0.65 if one[0] == "NEITHER" else (one[2] > 0.5) != (one[0] == "POSITIVE"))]
    return {"wrong": wrong} | {name: [sum(one[0] in labels for one in rows) for rows in (wrong, found)]
                               for name, labels in (("wrong opinions, of", ("POSITIVE", "NEGATIVE")), ("sure of neither, of", ("NEITHER",)))}


def written_names(model, tokenizer, items):
    """Names are right if exactly the expected ones are found, each with its type."""
    run, wrong = pipeline("token-classification", model=model.eval(), tokenizer=PreTrainedTokenizerFast(tokenizer_object=tokenizer), device="cpu"), []
    for item in items:
        found = [[item["text"][one["start"]:one["end"]], one["entity_group"]] for one in run(item["text"], aggregation_strategy="average")]
        if sorted(one for one in found if one[1] in TYPES) != sorted([one["text"], one["type"]] for one in item["entities"]):
            wrong.append([item["text"], found])
    return {"right": len(items) - len(wrong), "of": len(items), "wrong": wrong}


WRITTEN = {"reader": ("question-answering", written_questions), "sentiment": ("text-classification", written_opinions),
           "tagger": ("token-classification", written_names), "zero-shot": ("zero-shot-classification", written_messages)}


def written(task, model, tokenizer, file):
    """Scores on a file of `models` whose texts were written before any model was tried on them."""
    name, score = WRITTEN[task]
    items = [item for item in map(json.loads, (MODELS / file).read_text(encoding="utf-8").splitlines()) if item["task"] == name]
    return score(model, tokenizer, items) if items else None


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
    result |= {name: written(args.task, model, tokenizer, f"{name}.jsonl") for name in ("everyday", "visitors")}
    print(json.dumps(result, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
