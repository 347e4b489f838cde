"""Writes what Captum's integrated gradients make of the tiny checkpoints of tests/fixtures/tiny.

    python make_attribution_goldens.py [--out FILE]

For each case and each of the texts c and d of its expected.safetensors: a score for every token (LayerIntegratedGradients on the word
embeddings, 50 steps of Gauss-Legendre, in float64, summed over the embedding), and the value of the text and of the baseline. The baseline
has the token BASELINE in place of every token but the first and the last. The value is the logit of label 1, or the sum of the start logit
of one token and the end logit of another; tests/native/train/attribution_test.cc has the same. The cases of SENTENCE also have a classifier
on the normalised mean of the encoder's last hidden states, as in a folder of sentence-transformers; its weights are a formula.
"""

import argparse
import inspect
import json
from pathlib import Path

import safetensors.torch
import torch
from captum.attr import LayerIntegratedGradients

from make_training_goldens import FIXTURES, load, texts_of

CASES = [
    "bert-sequence", "bert-question", "bert-relative-key", "electra-sequence", "convbert-sequence", "convbert-question",
    "deberta-v1-sequence", "deberta-v2-sequence", "deberta-v2-question", "deberta-v2-embed-proj", "distilbert-sequence",
    "roberta-sequence", "xlm-roberta-question", "modernbert-sequence", "albert-sequence", "jina-bert-sequence",
]
SENTENCE = ["bert-sequence", "convbert-sequence"]
BASELINE = 4
STEPS = 50


class SentenceClassifier(torch.nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        labels, columns = torch.meshgrid(torch.arange(3), torch.arange(encoder.config.hidden_size), indexing="ij")
        self.weight = ((labels * 7 + columns * 5) % 11 - 5).double() / 4
        self.bias = torch.arange(3).double() / 2

    def get_input_embeddings(self):
        return self.encoder.get_input_embeddings()

    def forward(self, input_ids, attention_mask, token_type_ids):
        hidden = self.encoder(input_ids, attention_mask, token_type_ids).last_hidden_state
        vector = torch.nn.functional.normalize(hidden.mean(1))
        return argparse.Namespace(logits=vector @ self.weight.T + self.bias)


def attributions(name, model_class, text, on_sentence=False):
    ids, types = text
    model = load(name, model_class, torch.float64)
    if on_sentence:
        model = SentenceClassifier(model.base_model)
    takes_types = "token_type_ids" in inspect.signature(model.forward).parameters
    is_question = model_class.endswith("QuestionAnswering")

    def value(many):
        segments = {"token_type_ids": types[None].expand(len(many), -1)} if takes_types else {}
        output = model(input_ids=many, attention_mask=torch.ones_like(many), **segments)
        if is_question:
            return output.start_logits[:, len(ids) // 3] + output.end_logits[:, len(ids) // 2]
        return output.logits[:, 1]

    baseline = ids.clone()
    baseline[1:-1] = BASELINE
    words = model.get_input_embeddings()
    explainer = LayerIntegratedGradients(value, words)
    scores = explainer.attribute(ids[None], baselines=baseline[None], n_steps=STEPS, method="gausslegendre")
    with torch.no_grad():
        vectors = words(baseline[None])
        whole = value(ids[None])
        # As on Captum's path, everything but the words is the text's: RoBERTa's positions depend on ids.
        hook = words.register_forward_hook(lambda *_: vectors)
        none = value(ids[None])
        hook.remove()
    return scores[0].sum(-1), torch.cat([whole, none])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=FIXTURES / "training" / "attributions.safetensors")
    arguments = parser.parse_args()
    classes = {case["name"]: case["model"] for case in json.loads((FIXTURES / "tiny" / "cases.json").read_text())["cases"]}
    tensors = {}
    for name in CASES:
        for letter, text in zip("cd", texts_of(FIXTURES / "tiny" / name)[2:]):
            for on_sentence in [False, True] if name in SENTENCE else [False]:
                scores, values = attributions(name, classes[name], text, on_sentence)
                key = f"sentence/{name}/{letter}" if on_sentence else f"{name}/{letter}"
                tensors[f"{key}/scores"] = scores.float()
                tensors[f"{key}/values"] = values.float()
                missing = float(values[0] - values[1] - scores.sum())
                print(key, f"missing {missing:.1e} of {float(values[0] - values[1]):.3f}")
    safetensors.torch.save_file(tensors, arguments.out)


if __name__ == "__main__":
    main()
