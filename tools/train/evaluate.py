"""Scores of a saved demo model, read back through transformers' own loaders.

    python evaluate.py --task sentiment|reader|tagger|zero-shot --model-dir DIR [--data-dir DATA] [--json OUT.json]
        [--teacher SENTENCE_DIR]

The test halves are for reporting only; nothing was trained on them, or chosen by them but where a model's card says so.
"""

import argparse
import json
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import AutoModelForQuestionAnswering, AutoModelForSequenceClassification, AutoModelForTokenClassification

import everyday
import fast_attention
import finetune_sentiment
import finetune_tagger
import finetune_zero_shot
import reading
import sentence_vectors
from entities import NER_SETS, f1, ner_sentences, total_f1
from splits import reader_rows
from texts import DEFAULT_DATA_DIR, SENTIMENT_SETS, read_squad, sentiment_rows
from zero_shot_sets import label_table, labelled_sets


def evaluate_sentiment(model_dir, tokenizer, data_dir):
    model = AutoModelForSequenceClassification.from_pretrained(model_dir, dtype=torch.float32)
    result = {}
    for name in SENTIMENT_SETS:
        for split in ("dev", "test-halfA"):
            items = finetune_sentiment.encode(tokenizer, sentiment_rows(data_dir, name, split))
            result[f"{name} {split}"] = {"accuracy": round(finetune_sentiment.accuracy(model, items), 2),
                                         "texts": len(items)}
    return result


def evaluate_reader(model_dir, tokenizer, data_dir):
    fast_attention.use()  # float32, as transformers computes it but for rounding, and faster
    model = AutoModelForQuestionAnswering.from_pretrained(model_dir, dtype=torch.float32)
    sets = {f"{name} {part}": rows for part in ("dev", "test") for name, rows in reader_rows(data_dir, part).items()}
    sets["qed-nq half A"] = read_squad(data_dir / "qa-english" / "qed-nq-halfA.json.gz")
    sets["squad v1.1 dev half A"] = read_squad(data_dir / "squad" / "dev-v1.1-halfA.json.gz")
    result = {}
    for name, rows in sets.items():
        exact, f1 = reading.scores(reading.predict(model, tokenizer, rows), rows)
        result[name] = {"exact": round(exact, 2), "f1": round(f1, 2), "questions": len(rows)}
        print(name, result[name], flush=True)
    rows = sets["squad v1.1 dev half A"][::5]
    exact, f1 = reading.scores(reading.predict(model, tokenizer, rows, may_decline=True), rows)
    swapped = [row | {"context": rows[(number + len(rows) // 2) % len(rows)]["context"]} for number, row in enumerate(rows)]
    declined = [text == "" for text in reading.predict(model, tokenizer, swapped, may_decline=True)]
    result["squad v1.1 dev half A, where it may decline"] = {
        "exact": round(exact, 2), "f1": round(f1, 2), "questions": len(rows),
        "declined of as many with the passage of another article": round(100 * sum(declined) / len(declined), 1)}
    return result


def evaluate_tagger(model_dir, tokenizer, data_dir):
    model = AutoModelForTokenClassification.from_pretrained(model_dir, dtype=torch.float32)
    result = {}
    for part in ("dev", "test"):
        for name in NER_SETS:
            sentences = ner_sentences(data_dir, name, part)
            counts = finetune_tagger.measure(model, tokenizer, sentences, name)
            right, predicted, gold = (sum(column) for column in zip(*counts.values()))
            result[f"{name} {part}"] = {
                "f1": round(total_f1(counts), 1), "precision": round(100 * right / max(predicted, 1), 1),
                "recall": round(100 * right / max(gold, 1), 1), "entities": gold, "sentences": len(sentences),
                "by type": {kind: round(f1(*count), 1) for kind, count in counts.items()}}
    return result


def zero_shot_parts(data_dir, most=400):
    """{what: (texts, labels to choose from)}: of labels that were trained on; then the same of labels that were not."""
    table, sets = label_table(), labelled_sets(data_dir, "test")
    parts = {}
    for part, word in (("train", "known"), ("test", "new")):
        for name in sets:
            rows, names = finetune_zero_shot.rows_of(sets, table, name, part, most)
            if rows and len(names) > 1:
                parts[f"{name}, {word} labels"] = rows, names
    cars = [row for row in sets["clinc150-domains"] if table["clinc150-domains"][row.labels[0]][0] == "test"]
    all_domains = {key: names[0] for key, (_, names) in table["clinc150-domains"].items()}
    parts["clinc150-domains, texts of the new one"] = cars, all_domains
    return parts


def evaluate_zero_shot(model_dir, tokenizer, data_dir, teacher=None):
    model = AutoModelForSequenceClassification.from_pretrained(model_dir, dtype=torch.float32)
    result = {}
    for what, (rows, names) in zero_shot_parts(data_dir).items():
        result[what] = {"texts": len(rows), "labels": len(names), "chance": chance(rows, names),
                        "accuracy": round(finetune_zero_shot.accuracy(model, tokenizer, rows, names), 1)}
        if teacher:
            result[what]["teacher"] = round(teacher.accuracy(rows, names), 1)
        print(what, result[what], flush=True)
    return result


def chance(rows, names):
    """Percent that a random label is right for; some texts have several."""
    return round(100 * sum(len(set(row.labels)) for row in rows) / len(rows) / len(names), 1)


EVALUATE = {"sentiment": evaluate_sentiment, "reader": evaluate_reader, "tagger": evaluate_tagger,
            "zero-shot": evaluate_zero_shot}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--task", choices=list(EVALUATE), required=True)
    parser.add_argument("--model-dir", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--teacher", type=Path, help="zero-shot: score the vectors of sentence_vectors.py too")
    args = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(args.model_dir / "tokenizer.json"))
    extra = [sentence_vectors.load(args.teacher)] if args.teacher else []
    result = EVALUATE[args.task](args.model_dir, tokenizer, args.data_dir, *extra)
    result["everyday"] = everyday.score(args.task, args.model_dir)
    print(json.dumps(result, indent=1))
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
