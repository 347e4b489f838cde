"""Runs the reference pipelines on the demo models and stores inputs, token ids and results.

    python make_demo_fixtures.py [--data-dir DATA] [--models-dir MODELS] [--out-dir OUT] [--only FIXTURE]

The layout and the licences of the texts are stated in tests/fixtures/demo/README.md.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

import tokenizers
import torch
import transformers
from transformers import (AutoModelForQuestionAnswering, AutoModelForSequenceClassification, AutoModelForTokenClassification,
                          AutoTokenizer, pipeline)

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "train"))

from shared.entities import ner_sentences  # noqa: E402
from shared.texts import DEFAULT_DATA_DIR, read_squad, sentiment_rows  # noqa: E402
from shared.zero_shot_texts import label_table, labelled_sets  # noqa: E402

ODD_SENTENCES = [
    "A", "!", "...", "not bad", "Not good.", "NOT GOOD", "BEST FILM OF THE YEAR!!!", "worst. movie. ever.", "👍", "👎👎👎",
    "I ❤️ this camera 😀", "Der Film war großartig", "C’était un très mauvais café", "naïve façade résumé",
    "这部电影很好看", "とても面白かった", "이 영화는 재미있다", "Это ужасный фильм", "فيلم رائع", "e\u0301cole no\u0308el",
    "ﬁne ﬂick", "Ｆｕｌｌｗｉｄｔｈ ｆｉｌｍ", "tab\tand\nnewline", "  spaces   everywhere  ", "zero\u200bwidth joiner\u200d",
    "[MASK] is a [SEP] token?", "http://example.org/review?id=42&x=%20", "donaudampfschifffahrtsgesellschaft" * 4,
    "ı dotless İstanbul", "ß ẞ æ Æ ø Ø", "1,234.56 $ 99 % £5 €7", "\U0001F469\u200d\U0001F4BB great \U0001F3AC",
    "good " * 40, "bad, " * 40, "it was fine , i guess", "A gem.",
]
ODD_PAIRS = [
    ("Who wrote the play?", "The play “Nathan der Weise” 🎭 was written by Gotthold Ephraim Lessing in 1779."),
    ("WHERE IS THE TOWER?", "THE TOWER STANDS IN PARIS, NEXT TO THE SEINE 🗼🇫🇷, AND IS MADE OF IRON."),
    ("What is the capital?", "首都は東京です。 The capital of Japan is Tokyo 東京."),
    ("How old is she?", "\U0001F600\U0001F600 Zoë is forty\u00a0two years old; her café opened in 1999."),
    ("why?", "Because."),
    ("What did Re\u0301mi buy?", "Re\u0301mi bought cre\u0300me fraiche and a kilo of pâté at Müller's."),
]


def chosen(items, key, count):
    """`count` of the items, in an order that only depends on the texts."""
    return sorted(items, key=lambda item: hashlib.sha256(key(item).encode("utf-8")).hexdigest())[:count]


def sentiment_texts(data_dir):
    for name, count in (("rt-polarity", 80), ("pros-cons", 70), ("movie-reviews", 15)):
        rows = sentiment_rows(data_dir, name, "test-halfA")
        for _, text in chosen(rows, lambda row: row[1], count):
            yield name, text
    for text in ODD_SENTENCES:
        yield "odd", text


def run_sentiment(model_dir, data_dir):
    model = AutoModelForSequenceClassification.from_pretrained(model_dir, dtype=torch.float64)
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    classify = pipeline("text-classification", model=model, tokenizer=tokenizer, top_k=None, device="cpu")
    cases = []
    for source, text in sentiment_texts(data_dir):
        cases.append({"source": source, "text": text, "input_ids": tokenizer(text, truncation=True)["input_ids"],
                      "labels": classify([text], truncation=True)[0]})
    return {"options": {"top_k": None, "truncation": True}, "cases": cases}


def reader_inputs(data_dir):
    """(source, question, context, options); one question from each chosen paragraph."""
    rows = read_squad(data_dir / "squad" / "dev-v1.1-halfA.json.gz")
    titles, paragraphs = {}, {}
    for row in rows:
        titles.setdefault(row["title"], {})[row["paragraph"]] = row["context"]
        paragraphs.setdefault((row["title"], row["paragraph"]), row)
    picks = chosen(paragraphs.values(), lambda row: row["id"], 100)

    def stretch(row, count):
        following = titles[row["title"]]
        return "\n".join(following[n] for n in range(row["paragraph"], row["paragraph"] + count) if n in following)

    plans = [(60, 1, {}), (10, 4, {}), (8, 6, {"max_seq_len": 384, "doc_stride": 128}),
             (6, 2, {"max_seq_len": 96, "doc_stride": 32}), (5, 1, {"top_k": 3}),
             (3, 5, {"handle_impossible_answer": True}), (2, 1, {"align_to_words": False}),
             (2, 1, {"max_answer_len": 4}), (4, 3, {"top_k": 3, "max_seq_len": 128, "doc_stride": 0})]
    for count, size, options in plans:
        for row in picks[:count]:
            yield "squad", row["question"], stretch(row, size), options
        picks = picks[count:]
    for question, context in ODD_PAIRS:
        yield "odd", question, context, {}


def listed(result):
    return result if isinstance(result, list) else [result]


def is_clear(answer, inputs, options, count):
    """Whether rounding cannot change the order of the results."""
    more = listed(answer(**inputs, **(options | {"top_k": count + 1})))
    return all(a["score"] - b["score"] > 1e-4 for a, b in zip(more, more[1:]))


def run_reader(model_dir, data_dir):
    model = AutoModelForQuestionAnswering.from_pretrained(model_dir, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    answer = pipeline("question-answering", model=model, tokenizer=tokenizer, device="cpu")
    cases = []
    for source, question, context, options in reader_inputs(data_dir):
        inputs = {"question": question, "context": context}
        answers = listed(answer(**inputs, **options))
        if source == "squad" and not is_clear(answer, inputs, options, len(answers)):
            continue
        windows = tokenizer(question, context, truncation="only_second", max_length=options.get("max_seq_len", 384),
                            stride=options.get("doc_stride", 128), return_overflowing_tokens=True)["input_ids"]
        cases.append({"source": source, "question": question, "context": context, "options": options,
                      "windows": windows, "answers": answers})
    return {"cases": cases}


def tagger_texts(data_dir):
    for name, count in (("wikigold", 80), ("btc", 30), ("wnut17", 20)):
        for sentence in chosen(ner_sentences(data_dir, name, "test"), lambda one: " ".join(one.words), count):
            yield name, " ".join(sentence.words)
    paragraphs = [" ".join(sentence.words) for sentence in ner_sentences(data_dir, "wikigold", "test")]
    for start in range(0, 60, 6):
        yield "wikigold", " ".join(paragraphs[start:start + 6])
    for text in ODD_SENTENCES:
        yield "odd", text


def multilingual_texts(_):
    """Every third of the everyday messages, whose braces mark details."""
    lines = (ROOT / "models" / "everyday_multilingual.txt").read_text(encoding="utf-8").splitlines()
    for line in [line.removeprefix("- ") for line in lines if line and line[0] not in "#="][::3]:
        yield "everyday", line.replace("{", "").replace("}", "")
    for text in ODD_SENTENCES:
        yield "odd", text


def run_tagger(model_dir, data_dir, texts=tagger_texts):
    model = AutoModelForTokenClassification.from_pretrained(model_dir, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    tag = pipeline("token-classification", model=model, tokenizer=tokenizer, device="cpu")
    cases = []
    for number, (source, text) in enumerate(texts(data_dir)):
        strategy = ("none", "simple", "first", "average", "max")[number % 5]
        entities = [{key: value if isinstance(value, (str, int)) else float(value) for key, value in one.items()}
                    for one in tag(text, aggregation_strategy=strategy)]
        cases.append({"source": source, "text": text, "options": {"aggregation_strategy": strategy}, "entities": entities})
    return {"cases": cases}


def zero_shot_inputs(data_dir):
    """(source, text, labels, options): sets with their own labels, long reviews (cut), odd texts; the options take turns."""
    table, sets = label_table(), labelled_sets(data_dir, "test")
    names = {name: [listed[0] for _, listed in table[name].values()] for name in ("clinc150-domains", "snips", "banking77")}
    plans = [("snips", 50, names["snips"]), ("clinc150", 80, names["clinc150-domains"]), ("banking77", 30, names["banking77"][::6])]
    turns = [{}, {"multi_label": True}, {"hypothesis_template": "This text is about {}."}, {}]
    picks = [(name, row.text, labels) for name, count, labels in plans for row in chosen(sets[name], lambda row: row.text, count)]
    picks += [("movie-reviews", text, ["music", "a film", "a recipe"])
              for _, text in chosen(sentiment_rows(data_dir, "movie-reviews", "test-halfA"), lambda row: row[1], 6)]
    picks += [("odd", text, ["a film", "ÉCOLE", "日本", "the price of a camera, in euros"]) for text in ODD_SENTENCES]
    picks += [("odd", "The evening train leaves at nine.", ["travel"])]
    for number, (source, text, labels) in enumerate(picks):
        yield source, text, labels, turns[number % len(turns)]


def run_zero_shot(model_dir, data_dir):
    model = AutoModelForSequenceClassification.from_pretrained(model_dir, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    classify = pipeline("zero-shot-classification", model=model, tokenizer=tokenizer, device="cpu")
    cases = []
    for source, text, labels, options in zero_shot_inputs(data_dir):
        result = classify(text, labels, **options)
        # Logits differ by at least 2e-4, so that rounding cannot change the order.
        if all(a - b > 2e-4 * a for a, b in zip(result["scores"], result["scores"][1:])):
            cases.append({"source": source, "text": text, "candidates": labels, "options": options,
                          "labels": result["labels"], "scores": result["scores"]})
    return {"cases": cases}


def run_multilingual(model_dir, data_dir):
    return run_tagger(model_dir, data_dir, multilingual_texts)


def write(path, content):
    versions = {module.__name__: module.__version__ for module in (transformers, tokenizers, torch)}
    content = {"made_by": "tests/reference/make_demo_fixtures.py", "versions": versions} | content
    cases = ",\n".join(json.dumps(case, ensure_ascii=True) for case in content.pop("cases"))
    head = json.dumps(content)[:-1]
    path.write_text(f'{head}, "cases": [\n{cases}\n]}}\n')
    print(path.name, path.stat().st_size, "bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--models-dir", type=Path, default=ROOT / "models")
    parser.add_argument("--out-dir", type=Path, default=ROOT / "tests" / "fixtures" / "demo")
    parser.add_argument("--only", choices=["sentiment", "reader", "tagger", "multilingual", "zero-shot"])
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.out_dir.mkdir(parents=True, exist_ok=True)
    for name, run, model in (("sentiment", run_sentiment, "peruse-sentiment-convbert-tiny"),
                             ("reader", run_reader, "peruse-reader-deberta-tiny"),
                             ("tagger", run_tagger, "peruse-tagger-convbert-tiny"),
                             ("multilingual", run_multilingual, "peruse-multilingual-tagger-convbert-tiny"),
                             ("zero-shot", run_zero_shot, "peruse-zero-shot-deberta-tiny")):
        if args.only in (None, name):
            write(args.out_dir / f"{name}.json", run(args.models_dir / model, args.data_dir))


if __name__ == "__main__":
    main()
