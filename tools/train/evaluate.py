"""Scores of a saved demo model, read back through transformers' own loaders.

    python evaluate.py --task sentiment|reader --model-dir DIR [--data-dir DATA] [--json OUT.json]

The test halves are for reporting only; nothing was trained on them or chosen by them.
"""

import argparse
import json
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import AutoModelForQuestionAnswering, AutoModelForSequenceClassification

import finetune_sentiment
import reading
from splits import reader_rows
from texts import DEFAULT_DATA_DIR, SENTIMENT_SETS, read_squad, sentiment_rows


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
    model = AutoModelForQuestionAnswering.from_pretrained(model_dir, dtype=torch.float32)
    sets = {f"{name} {part}": rows for part in ("dev", "test") for name, rows in reader_rows(data_dir, part).items()}
    sets["qed-nq half A"] = read_squad(data_dir / "qa-english" / "qed-nq-halfA.json.gz")
    sets["squad v1.1 dev half A"] = read_squad(data_dir / "squad" / "dev-v1.1-halfA.json.gz")
    result = {}
    for name, rows in sets.items():
        exact, f1 = reading.scores(reading.predict(model, tokenizer, rows), rows)
        result[name] = {"exact": round(exact, 2), "f1": round(f1, 2), "questions": len(rows)}
        print(name, result[name], flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--task", choices=["sentiment", "reader"], required=True)
    parser.add_argument("--model-dir", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(args.model_dir / "tokenizer.json"))
    evaluate = {"sentiment": evaluate_sentiment, "reader": evaluate_reader}[args.task]
    result = evaluate(args.model_dir, tokenizer, args.data_dir)
    print(json.dumps(result, indent=1))
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
