"""Writes a tiny random privacy filter with a tokenizer of its kind, and what transformers and a search of all spans make of texts.

    python make_privacy_fixture.py

tests/fixtures/privacy: the folder in the form of the published one; texts.json with the tokens, their logits' probabilities, and the spans of
the best sequence of labels, without and with biases. Requirements: requirements-encoders.txt.
"""

import json
import shutil
from pathlib import Path

import torch
import transformers

from make_encoder_fixtures import cut, randomise

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "privacy"
TEXTS = ["Call Mary Jones at 555-0134.", "n", "\u00c4gypten,  caf\u00e9 e\u0301: 12345", "My card is 4111 1111. Write to mary@example.org \n or to me! " * 2]
FIELDS = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 64,
          "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 9, "max_position_embeddings": 256}
BIASES = {"background_stay": -0.4, "background_to_start": 0.3, "inside_to_continue": 0.9, "inside_to_end": -0.8, "end_to_background": 0.2,
          "end_to_start": -0.6}


def spans_of(scores, labels, biases):
    """The best sequence of tokens that are O and of spans, each B, any I, E or S alone, by the sums of whole segments."""
    number = {label: index for index, label in enumerate(labels)}
    kinds = [label[2:] for label in labels if label.startswith("S-")]

    def step(before, starts):
        if before is None:
            return 0.0
        return biases[("end_to_" if before else "background_to_") + "start"] if starts else biases["end_to_background" if before else "background_stay"]

    # Keeps two states for each end: after O, and after a span.
    ends = [{None: (0.0, None)}] + [{} for _ in scores]
    for end in range(1, len(scores) + 1):
        for first in range(end):
            for before, (total, _) in ends[first].items():
                segments = [(False, None, step(before, False) + scores[first][number["O"]])] if end == first + 1 else []
                for kind in kinds:
                    if end == first + 1:
                        inside = scores[first][number["S-" + kind]]
                    else:
                        inside = scores[first][number["B-" + kind]] + scores[end - 1][number["E-" + kind]] + biases["inside_to_end"]
                        for t in range(first + 1, end - 1):
                            inside += scores[t][number["I-" + kind]] + biases["inside_to_continue"]
                    segments.append((True, kind, step(before, True) + inside))
                for after, kind, value in segments:
                    if after not in ends[end] or total + value > ends[end][after][0]:
                        ends[end][after] = (total + value, (first, before, kind))
    found, end = [], len(scores)
    after = max(ends[end], key=lambda state: ends[end][state][0])
    while end > 0:
        first, before, kind = ends[end][after][1]
        if kind is not None:
            found.append((first, end, kind))
        end, after = first, before
    return found[::-1]


def trimmed(text, start, end):
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    made, size = cut("o200k")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=256, eos_token="<|endoftext|>", pad_token="<|endoftext|>")
    tokenizer.save_pretrained(FOLDER)
    end = tokenizer.convert_tokens_to_ids("<|endoftext|>")
    config = transformers.OpenAIPrivacyFilterConfig(vocab_size=size, pad_token_id=end, eos_token_id=end, **FIELDS)
    model = transformers.OpenAIPrivacyFilterForTokenClassification._from_config(config, attn_implementation="eager").eval()
    randomise(model, "privacy")
    with torch.no_grad():
        model.score.weight.mul_(2)
    model.half().save_pretrained(FOLDER)
    model = transformers.OpenAIPrivacyFilterForTokenClassification.from_pretrained(FOLDER, dtype=torch.float32, attn_implementation="eager").eval()
    none = {name: 0.0 for name in BIASES}
    calibration = {"operating_points": {"default": {"biases": {"transition_bias_" + name: value for name, value in none.items()}}}}
    (FOLDER / "viterbi_calibration.json").write_text(json.dumps(calibration, indent=2) + "\n")
    labels = [config.id2label[index] for index in range(config.num_labels)]
    texts = []
    for text in TEXTS:
        encoded = tokenizer(text, return_offsets_mapping=True)
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([encoded["input_ids"]])).logits[0]
        scores = logits.double().log_softmax(dim=-1)
        probabilities = scores.exp()
        ways = {}
        for way, biases in (("plain", none), ("biased", BIASES)):
            ways[way] = []
            for first, last, kind in spans_of(scores.tolist(), labels, biases):
                prefixes = ["S"] if last == first + 1 else ["B"] + ["I"] * (last - first - 2) + ["E"]
                score = sum(probabilities[first + i][labels.index(prefix + "-" + kind)] for i, prefix in enumerate(prefixes)) / (last - first)
                start, stop = trimmed(text, encoded["offset_mapping"][first][0], encoded["offset_mapping"][last - 1][1])
                if start < stop:
                    ways[way].append({"entity_group": kind, "score": score.item(), "start": start, "end": stop})
        tokens = [{"id": id, "label": labels[row.argmax()], "score": row.max().item()} for id, row in zip(encoded["input_ids"], probabilities)]
        texts.append({"text": text, "tokens": tokens, **ways})
    (FOLDER / "texts.json").write_text(json.dumps({"biases": BIASES, "texts": texts}, indent=1) + "\n")
    for name in ("README.md", ".gitattributes"):
        (FOLDER / name).unlink(missing_ok=True)
    print(sum(path.stat().st_size for path in FOLDER.rglob("*")))


if __name__ == "__main__":
    main()
