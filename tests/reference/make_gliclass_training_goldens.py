"""Writes the losses with which the Python package `gliclass` learns a few texts, from the tiny checkpoints of tests/fixtures/gliclass.

    python make_gliclass_training_goldens.py [--out tests/fixtures/gliclass/training.json]

All texts are one update, so the losses do not depend on their order: AdamW with weight decay except for biases and norms, a tenth of the
updates of warm-up, then linear to zero, gradients clipped at 1, no dropout. The loss of texts with one label is the cross-entropy of a softmax over
all labels, that of texts with several the mean binary cross-entropy of the labels. `head` trains all parameters outside of the encoder. The number of
labels is given, as the package's own training gives it: otherwise labels without text take part. Needs requirements-gliner.txt.
"""
import argparse
import json
from pathlib import Path

import torch
import transformers
from gliclass import GLiClassModel, ZeroShotClassificationPipeline
from torch.nn import functional
from transformers import PreTrainedTokenizerFast

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "gliclass"
EXAMPLES = [("Anna met Mr. O in Genève", ["person"]), ("Monday the 3rd of May", ["date"]), ("Mr. Schmidt", ["person"]),
            ("on Tuesday", ["date"]), ("Anna and Otto", ["person"]), ("Anna came in May", ["date", "person"])]
CASES = ["simple", "simple-text-first", "weighted-dot", "mlp", "hopfield", "cross-attn", "lstm", "average", "pool-avg", "pool-max", "normalize",
         "segments", "modernbert"]
UPDATES, RATE, DECAY = 20, 1e-3, 0.01


def inputs_of(model, tokenizer, text, labels):
    pipe = ZeroShotClassificationPipeline(model, tokenizer, device="cpu", progress_bar=False)
    return getattr(pipe, "pipe", pipe).prepare_inputs([text], labels, same_labels=True)


def loss_of(logits, own, labels, several):
    if not several:
        return functional.cross_entropy(logits[None], torch.tensor([labels.index(own[0])]))
    targets = torch.tensor([float(label in own) for label in labels])
    return functional.binary_cross_entropy_with_logits(logits, targets)


def losses_of(name, tokenizer, several, head):
    model = GLiClassModel.from_pretrained(FOLDER / name).float().eval()  # no dropout
    examples = EXAMPLES if several else EXAMPLES[:-1]
    labels = sorted({label for _, own in examples for label in own})
    trained = []
    for key, parameter in model.named_parameters():
        parameter.requires_grad = key.split(".")[-1] != "logit_scale" and not (head and "encoder_model" in key)
        if parameter.requires_grad:
            trained.append((key, parameter))
    plain = lambda key: "bias" in key or "norm" in key.lower()
    optimiser = torch.optim.AdamW([{"params": [p for key, p in trained if not plain(key)], "weight_decay": DECAY},
                                   {"params": [p for key, p in trained if plain(key)], "weight_decay": 0.0}], lr=RATE)
    schedule = transformers.get_linear_schedule_with_warmup(optimiser, UPDATES // 10, UPDATES)
    losses = []
    for _ in range(UPDATES):
        loss = sum(loss_of(model(**inputs_of(model, tokenizer, text, labels), max_num_classes=len(labels)).logits[0], own, labels, several)
                   for text, own in examples) / len(examples)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for _, p in trained], 1.0)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=FOLDER / "training.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    cases = []
    for name in CASES:
        tokenizer = PreTrainedTokenizerFast.from_pretrained(FOLDER / "tokenizer")
        tokenizer.model_input_names = ["input_ids", "attention_mask"] + ["token_type_ids"] * (name != "modernbert")
        for several, head in [(False, False), (True, False), (False, True)]:
            if head and name in ("lstm", "segments"):  # the LSTM and the segment embeddings are no part of the encoder, but come before the head
                continue
            cases.append({"model": name, "several": several, "method": "head" if head else "full",
                          "losses": losses_of(name, tokenizer, several, head)})
            print(cases[-1]["model"], several, head, cases[-1]["losses"][0], cases[-1]["losses"][-1], flush=True)
    examples = [{"text": text, "labels": own} for text, own in EXAMPLES]
    options.out.write_text(json.dumps({"examples": examples, "learning_rate": RATE, "weight_decay": DECAY, "cases": cases},
                                      ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
