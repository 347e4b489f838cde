"""The PyTorch side of tests/bench/few_shot.mjs: few_shot.py JOBS RESULTS. Says for each job which share of its tests comes out right.

`full`: as transformers' Trainer does it: AdamW, no decay for biases and norms, a tenth of the steps of warm-up, then linear to zero, gradients
clipped at 1, batches of 16, padded. `head`: features that are computed once, as the last linear reads them (square weights of the head that
the checkpoint has not are the identity), and a logistic regression whose strength five-fold cross-validation chooses.

A text that is measured goes through the model with texts of its own length alone: padding changes what ConvBERT computes.
"""

import json
import math
import sys

import torch
import transformers
from tokenizers import Tokenizer
from torch.nn import functional

GRID = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1]
FOLDS = 5
BATCH = 16
MOST_TOKENS = 64


def start_model(job):
    torch.manual_seed(job["settings"]["seed"])
    model, about = transformers.AutoModelForSequenceClassification.from_pretrained(
        job["model"], num_labels=len(job["labels"]), dtype=torch.float32, ignore_mismatched_sizes=True, output_loading_info=True)
    mismatched = {entry if isinstance(entry, str) else entry[0] for entry in about["mismatched_keys"]}  # by version: names, or with their shapes
    fresh = set(about["missing_keys"]) | mismatched
    generator = torch.Generator().manual_seed(job["settings"]["seed"])
    for name, parameter in model.named_parameters():
        if name in fresh:
            parameter.data = torch.zeros_like(parameter) if parameter.dim() < 2 else torch.randn(parameter.shape, generator=generator) * 0.02
    return model, fresh


def last_linear(model):
    return [(name, module) for name, module in model.named_modules()
            if isinstance(module, torch.nn.Linear) and module.out_features == model.config.num_labels][-1]


def batch_of(texts):
    length = max(map(len, texts))
    ids = torch.zeros(len(texts), length, dtype=torch.long)
    mask = torch.zeros(len(texts), length, dtype=torch.long)
    for row, text in enumerate(texts):
        ids[row, :len(text)] = torch.tensor(text)
        mask[row, :len(text)] = 1
    return {"input_ids": ids, "attention_mask": mask}


@torch.no_grad()
def compute(model, texts):
    """Logits, by text."""
    model.eval()
    found = [None] * len(texts)
    by_length = {}
    for i, text in enumerate(texts):
        by_length.setdefault(len(text), []).append(i)
    for numbers in by_length.values():
        for first in range(0, len(numbers), 32):
            part = numbers[first:first + 32]
            for number, row in zip(part, model(**batch_of([texts[i] for i in part])).logits):
                found[number] = row
    return torch.stack(found)


def teach_full(model, texts, labels, settings):
    model.train()
    plain = [p for n, p in model.named_parameters() if "bias" in n or "norm" in n.lower()]
    decayed = [p for n, p in model.named_parameters() if not ("bias" in n or "norm" in n.lower())]
    optimiser = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}], lr=settings["learning_rate"])
    steps = math.ceil(len(texts) / BATCH) * settings["epochs"]
    schedule = transformers.get_linear_schedule_with_warmup(optimiser, math.ceil(0.1 * steps), steps)
    generator = torch.Generator().manual_seed(settings["seed"])
    for _ in range(settings["epochs"]):
        order = torch.randperm(len(texts), generator=generator).tolist()
        for first in range(0, len(order), BATCH):
            part = order[first:first + BATCH]
            loss = functional.cross_entropy(model(**batch_of([texts[i] for i in part])).logits, labels[part])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()


def fit(features, labels, count, l2):
    """Minimises mean cross-entropy + l2 / 2 |weight|^2."""
    weight = torch.zeros(count, features.shape[1], dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(count, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([weight, bias], max_iter=300, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        loss = functional.cross_entropy(features @ weight.T + bias, labels) + l2 / 2 * (weight ** 2).sum()
        loss.backward()
        return loss

    optimiser.step(closure)
    return weight.detach(), bias.detach()


def teach_head(model, fresh, texts, labels, settings):
    name, linear = last_linear(model)
    for own, parameter in model.named_parameters():
        if own in fresh and parameter.dim() == 2 and parameter.shape[0] == parameter.shape[1]:
            parameter.data = torch.eye(parameter.shape[0])
    kept = []
    hook = linear.register_forward_pre_hook(lambda _, inputs: kept.append(inputs[0].detach()))
    model.eval()
    with torch.no_grad():
        for text in texts:
            model(**batch_of([text]))
    hook.remove()
    features = torch.cat(kept).double()
    count = linear.out_features
    order = torch.randperm(len(texts), generator=torch.Generator().manual_seed(settings["seed"]))
    losses = []
    for l2 in GRID:
        loss = 0.0
        for fold in range(FOLDS):
            held = order[fold::FOLDS]
            learnt = torch.tensor([int(i) for place, i in enumerate(order) if place % FOLDS != fold])
            weight, bias = fit(features[learnt], labels[learnt], count, l2)
            loss += float(functional.cross_entropy(features[held] @ weight.T + bias, labels[held], reduction="sum"))
        losses.append(loss)
    weight, bias = fit(features, labels, count, GRID[losses.index(min(losses))])
    linear.weight.data, linear.bias.data = weight.float(), bias.float()


def run(job):
    tokenizer = Tokenizer.from_file(job["model"] + "/tokenizer.json")
    tokenizer.enable_truncation(MOST_TOKENS)
    tokenizer.no_padding()
    encode = lambda examples: [encoding.ids for encoding in tokenizer.encode_batch([example["text"] for example in examples])]
    labels = torch.tensor([job["labels"].index(example["label"]) for example in job["examples"]])
    model, fresh = start_model(job)
    texts = encode(job["examples"])
    if job["name"] == "head":
        teach_head(model, fresh, texts, labels, job["settings"])
    else:
        teach_full(model, texts, labels, job["settings"])
    found = compute(model, encode(job["tests"])).argmax(dim=1).tolist()
    right = sum(job["labels"][label] == example["label"] for label, example in zip(found, job["tests"]))
    return right / len(job["tests"])


def main():
    jobs, results = sys.argv[1:]
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    found = [run(job) for job in json.load(open(jobs, encoding="utf-8"))]
    with open(results, "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
