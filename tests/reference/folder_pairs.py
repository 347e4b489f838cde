"""The rows of folder_table.py in which every pair of flags occurs, for each class."""
import itertools
import random

from folder_parts import KIND, ROBERTA_NAMES, TYPES, bert_normalizer, both, flags, member, normalizer, without_token

ABSENT = object()
COMMON = {
    "has_config": [True, False],
    "cls": [ABSENT, "class", "PreTrainedTokenizerFast"],
    "added_tokens_decoder": [ABSENT, {}, {"4": flags("[MASK]", lstrip=True, special=True)}, {"900": flags("Quick fox", rstrip=True), "901": flags("of", single_word=True)}],
    "additional_special_tokens": [ABSENT, ["[X]", "dog"]],
    "special_tokens_map": [ABSENT, {"mask_token": flags("[MASK]", rstrip=True), "unk_token": "[UNK]"}, {"cls_token": "[CLS]", "additional_special_tokens": ["lazy"]}],
    "added_tokens": [ABSENT, {"[NEW]": 5000, "over": 77}],
    "listed": [True, False, "no mask"],
    "model_input_names": [ABSENT, ["input_ids", "attention_mask"]],
    "split_special_tokens": [ABSENT, True],
    "truncation_side": [ABSENT, "left"],
    "model_max_length": [ABSENT, 20],
}
FLAGS = {
    "bert": {"files": ["json", "vocabulary", "both"], "do_lower_case": [ABSENT, True, False], "strip_accents": [ABSENT, None, True, False],
             "tokenize_chinese_chars": [ABSENT, True, False],
             "normalizer": [bert_normalizer(), bert_normalizer(lowercase=False), bert_normalizer(handle_chinese_chars=False, strip_accents=False),
                            {"type": "Sequence", "normalizers": [bert_normalizer(lowercase=False)]}]},
    "bpe": {"files": ["json", "vocabulary", "both"], "add_prefix_space": [ABSENT, True, False], "prefix in json": [True, False]},
    "unigram": {"files": ["json", "vocabulary", "both"], "do_lower_case": [ABSENT, True, False], "split_by_punct": [ABSENT, True, False],
                "vocab_type": [ABSENT, "spm"]},
    "roberta": {"files": ["json", "vocabulary", "both"], "add_prefix_space": [ABSENT, True, False], "prefix in json": [True, False],
                "trim_offsets": [ABSENT, True, False], "trimming in json": [True, False]},
    "xlm": {"files": ["json", "vocabulary", "both"], "normalizer": [{"type": "NFKC"}, None], "do_lower_case": [ABSENT, True]},
}
FLAGS["camembert"] = FLAGS["xlm"]

# Names of special tokens in the flags of COMMON, for each kind of vocabulary.
NAMES = {"roberta": ROBERTA_NAMES, "xlm": ROBERTA_NAMES, "camembert": ROBERTA_NAMES}


def covering(options, seed):
    """Rows in which every pair of values of two options occurs: each is the best of a few random rows."""
    rng = random.Random(seed)
    names = list(options)
    left = {(a, i, b, j) for a, b in itertools.combinations(range(len(names)), 2)
            for i in range(len(options[names[a]])) for j in range(len(options[names[b]]))}
    while left:
        best, best_count = None, -1
        for _ in range(60):
            a, i, b, j = rng.choice(sorted(left)) if _ % 2 else next(iter(sorted(left)))
            row = [rng.randrange(len(options[name])) for name in names]
            row[a], row[b] = i, j
            count = sum((p, row[p], q, row[q]) in left for p, q in itertools.combinations(range(len(names)), 2))
            if count > best_count:
                best, best_count = row, count
        left -= {(p, best[p], q, best[q]) for p, q in itertools.combinations(range(len(names)), 2)}
        yield {name: options[name][index] for name, index in zip(names, best)}


def pairwise_rows(table):
    for index, (name, model_type) in enumerate(TYPES.items()):
        kind = KIND[name]
        for number, row in enumerate(covering({**COMMON, **FLAGS[kind]}, index)):
            add_pairwise(table, "pairs-%s-%d" % (name, number), name, model_type, kind, row)


def add_pairwise(table, label, name, model_type, kind, row):
    config = {key: value for key, value in row.items() if value is not ABSENT and key in (
        "added_tokens_decoder", "additional_special_tokens", "model_input_names", "split_special_tokens", "truncation_side", "model_max_length",
        "do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space", "split_by_punct", "vocab_type", "trim_offsets")}
    is_plain = row["cls"] == "PreTrainedTokenizerFast"
    if row["cls"] is not ABSENT:
        config["tokenizer_class"] = name if row["cls"] == "class" else row["cls"]
    has_json = row["files"] != "vocabulary"
    changes = []
    if row["listed"] is not True:
        changes.append(member("added_tokens", []) if row["listed"] is False else without_token("[MASK]", "<mask>"))
    if "normalizer" in row:
        changes.append(normalizer(row["normalizer"]))
    if "prefix in json" in row:
        changes.append(lambda document: document["pre_tokenizer"].update(add_prefix_space=row["prefix in json"]))
    if "trimming in json" in row:
        changes.append(lambda document: document["post_processor"].update(trim_offsets=row["trimming in json"]))
    files = {key + "_json": row[key] for key in ("special_tokens_map", "added_tokens") if row[key] is not ABSENT}
    refused = "tokenizer_class" if is_plain and not has_json and row["has_config"] else None
    config, files = renamed([config, files], NAMES.get(kind, {}))
    table.add(label, kind, has_json=has_json, has_vocabulary=row["files"] != "json", config=config if row["has_config"] else None,
              model_type=model_type, change=both(*changes), refused=refused, **files)


def renamed(value, names):
    if isinstance(value, dict):
        return {key: renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value
