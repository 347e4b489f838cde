"""Other methods for tests/bench/few_shot.mjs: few_shot.py JOBS RESULTS METHODS. Appends a line of JSON to RESULTS for each job and method that it
lacks: the share of the job's tests that come out right. All methods of the first draw come before the second draw.

`contrast`: as Peruse's method of this name: the last three layers learn, in eight updates at 4e-4 or four at 3e-4 (contrast_recipe), which texts of a
batch have one label (cosine similarity, squared error, all pairs of at most 32 texts, AdamW), then a logistic regression on the vectors.
`full`: as transformers' Trainer does it: AdamW, no decay for biases and norms, a tenth of the steps of warm-up, then linear to zero, gradients
clipped at 1, batches of 16, padded. The classifier starts at random.
`logistic`: a logistic regression (scikit-learn, C = 1) on the mean of the token states, of length one.
`setfit`: Tunstall et al., 2022: the encoder learns which pairs of texts have one label (cosine similarity, squared error, 20 pairs of both kinds a
text but at most MOST_PAIRS, one epoch, batches of 16, AdamW at 2e-5), then a logistic regression on its vectors.
`tfidf`: a logistic regression (C = 10) on TF-IDF of words and pairs of words.

A text that is measured goes through ConvBERT with texts of its own length alone: padding changes what ConvBERT computes.
"""

import json
import math
import os
import sys
import time

import numpy as np
import torch
import transformers
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from tokenizers import Tokenizer
from torch.nn import functional

BATCH = 16
MOST_TOKENS = 64
MOST_PAIRS = 800
DETERMINISTIC = ("logistic", "tfidf")  # methods without random numbers, for which the first training of a draw is enough
CONTRAST_BATCH = 32
CONTRAST_LAYERS = 3
USUAL_CONTRAST, BRIEF_CONTRAST = (8, 4e-4), (4, 3e-4)  # updates, learning rate
CLEAR = 0.75  # BRIEF_CONTRAST is for three labels or more, if a classifier of untrained vectors is right for this share of what guessing gets wrong
MIXED_WIDTH = 256  # columns above which training multiplies in bfloat16 (autocast), as a processor has time for


def start_model(job):
    torch.manual_seed(job["settings"]["seed"])
    model, about = transformers.AutoModelForSequenceClassification.from_pretrained(
        job["model"], num_labels=len(job["labels"]), dtype=torch.float32, ignore_mismatched_sizes=True, output_loading_info=True)
    mismatched = {entry if isinstance(entry, str) else entry[0] for entry in about["mismatched_keys"]}  # by version: names, or with their shapes
    fresh = set(about["missing_keys"]) | mismatched | {"classifier.weight", "classifier.bias", "classifier.out_proj.weight", "classifier.out_proj.bias"}
    generator = torch.Generator().manual_seed(job["settings"]["seed"])
    for name, parameter in model.named_parameters():
        if name in fresh:
            parameter.data = torch.zeros_like(parameter) if parameter.dim() < 2 else torch.randn(parameter.shape, generator=generator) * 0.02
    return model


def batch_of(texts):
    length = max(map(len, texts))
    ids = torch.zeros(len(texts), length, dtype=torch.long)
    mask = torch.zeros(len(texts), length, dtype=torch.long)
    for row, text in enumerate(texts):
        ids[row, :len(text)] = torch.tensor(text)
        mask[row, :len(text)] = 1
    return {"input_ids": ids, "attention_mask": mask}


@torch.no_grad()
def by_length(model, texts, compute):
    found = [None] * len(texts)
    groups = {}
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for rank, i in enumerate(order):
        groups.setdefault(len(texts[i]) if model.config.model_type == "convbert" else rank // 32, []).append(i)
    for numbers in groups.values():
        for number, row in zip(numbers, compute(batch_of([texts[i] for i in numbers]))):
            found[number] = row
    return torch.stack(found)


def mixed(model):
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=model.config.hidden_size > MIXED_WIDTH)


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
            with mixed(model):
                logits = model(**batch_of([texts[i] for i in part])).logits
            loss = functional.cross_entropy(logits.float(), labels[part])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
    model.eval()


def mean_states(encoder, batch):
    """Means of the token states, scaled to length one."""
    hidden = encoder(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(2)
    return functional.normalize((hidden * mask).sum(dim=1) / mask.sum(dim=1), dim=1)


def draw_pairs(labels, seed):
    """Pairs of texts and whether they have the same label, in random order."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda numbers: numbers[int(torch.randint(len(numbers), (1,), generator=generator))]
    pairs = []
    for i, label in enumerate(labels):
        same = [j for j, other in enumerate(labels) if other == label and j != i]
        others = [j for j, other in enumerate(labels) if other != label]
        for _ in range(20):
            if same:
                pairs.append((i, draw(same), 1.0))
            pairs.append((i, draw(others), 0.0))
    order = torch.randperm(len(pairs), generator=generator).tolist()
    return [pairs[i] for i in order[:MOST_PAIRS]]


def learn_pairs(encoder, texts, labels, seed):
    pairs = draw_pairs(labels.tolist(), seed)
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=2e-5, weight_decay=0.01, fused=True)
    steps = math.ceil(len(pairs) / BATCH)
    schedule = transformers.get_linear_schedule_with_warmup(optimiser, math.ceil(0.1 * steps), steps)
    torch.manual_seed(seed)
    encoder.train()
    for first in range(0, len(pairs), BATCH):
        part = pairs[first:first + BATCH]
        with mixed(encoder):
            states = mean_states(encoder, batch_of([texts[pair[side]] for side in (0, 1) for pair in part]))
        one, other = states.float().chunk(2)
        loss = functional.mse_loss((one * other).sum(dim=1), torch.tensor([pair[2] for pair in part]))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
    encoder.eval()


def draw_batch(labels, generator):
    """All texts if they are few; otherwise two texts of each label, then a third of each, and so on."""
    shuffled = lambda numbers: [numbers[i] for i in torch.randperm(len(numbers), generator=generator).tolist()]
    groups = shuffled([shuffled([i for i, label in enumerate(labels) if label == own]) for own in sorted(set(labels))])
    ranked = sorted((max(rank - 1, 0), group, text) for group, own in enumerate(groups) for rank, text in enumerate(own))
    return [text for _, _, text in ranked[:CONTRAST_BATCH]]


def pair_loss(vectors, labels):
    similar = vectors @ vectors.T
    same = labels[:, None] == labels[None, :]
    itself = torch.eye(len(labels), dtype=torch.bool)
    mean = lambda values: values.mean() if len(values) > 0 else 0
    return mean((1 - similar[same & ~itself]) ** 2) + mean(similar[~same] ** 2)


def contrast_recipe(vectors, labels, seed):
    """The updates and their rate, by a cross-validation of the untrained vectors."""
    vectors, labels = vectors.numpy(), labels.numpy()
    features = vectors - vectors.mean(axis=0)
    features /= features.std()
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=int)
    fold[order] = np.arange(len(labels)) % (10 if len(labels) < 30 else 5)
    right = 0
    for held_out in (fold == number for number in set(fold)):
        head = LogisticRegression(C=1 / (~held_out).sum(), max_iter=1000).fit(features[~held_out], labels[~held_out])
        right += (head.predict(features[held_out]) == labels[held_out]).sum()
    guessed = 1 / len(set(labels))
    return BRIEF_CONTRAST if guessed < 0.5 and right / len(labels) >= guessed + CLEAR * (1 - guessed) else USUAL_CONTRAST


def learn_contrast(encoder, texts, labels, seed, recipe):
    updates, rate = recipe
    layers = encoder.encoder.layer[-CONTRAST_LAYERS:]
    plain = [p for n, p in layers.named_parameters() if "bias" in n or "norm" in n.lower()]
    decayed = [p for n, p in layers.named_parameters() if not ("bias" in n or "norm" in n.lower())]
    optimiser = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}], lr=rate)
    schedule = transformers.get_linear_schedule_with_warmup(optimiser, 1, updates)
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    encoder.requires_grad_(False)
    layers.requires_grad_(True)
    layers.train()
    for _ in range(updates):
        part = draw_batch(labels.tolist(), generator)
        loss = pair_loss(mean_states(encoder, batch_of([texts[i] for i in part])), labels[part])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(layers.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
    encoder.eval()


class Runner:
    def __init__(self):
        self.vectors = {}  # of the encoder as it comes, by model and text
        self.encoders = {}

    def encoder(self, path):
        if path not in self.encoders:
            self.encoders[path] = transformers.AutoModel.from_pretrained(path, dtype=torch.float32).eval()
        return self.encoders[path]

    def start_vectors(self, path, texts):
        known = self.vectors.setdefault(path, {})
        new = [list(text) for text in sorted({tuple(text) for text in texts}) if text not in known]
        if new:
            for text, vector in zip(new, by_length(self.encoder(path), new, lambda batch: mean_states(self.encoder(path), batch))):
                known[tuple(text)] = vector
        return torch.stack([known[tuple(text)] for text in texts])

    def by_vectors(self, job, texts, tests, labels):
        if job["name"] == "logistic":
            vectors, test_vectors = (self.start_vectors(job["model"], part) for part in (texts, tests))
        else:
            encoder = transformers.AutoModel.from_pretrained(job["model"], dtype=torch.float32)
            seed = job["settings"]["seed"]
            if job["name"] == "contrast":
                recipe = contrast_recipe(self.start_vectors(job["model"], texts), labels, seed)
                learn_contrast(encoder, texts, labels, seed, recipe)
            else:
                learn_pairs(encoder, texts, labels, seed)
            vectors, test_vectors = (by_length(encoder, part, lambda batch: mean_states(encoder, batch)) for part in (texts, tests))
        head = LogisticRegression(max_iter=1000).fit(vectors.numpy(), labels.numpy())
        return head.predict(test_vectors.numpy()).tolist()

    def run(self, job):
        labels = torch.tensor([job["labels"].index(example["label"]) for example in job["examples"]])
        if job["name"] == "tfidf":
            return by_words(job, labels)
        tokenizer = Tokenizer.from_file(job["model"] + "/tokenizer.json")
        tokenizer.enable_truncation(MOST_TOKENS)
        tokenizer.no_padding()
        encode = lambda examples: [encoding.ids for encoding in tokenizer.encode_batch([example["text"] for example in examples])]
        texts, tests = encode(job["examples"]), encode(job["tests"])
        if job["name"] != "full":
            return self.by_vectors(job, texts, tests, labels)
        model = start_model(job)
        teach_full(model, texts, labels, job["settings"])
        return by_length(model, tests, lambda batch: model(**batch).logits).argmax(dim=1).tolist()


def by_words(job, labels):
    words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
    head = LogisticRegression(C=10, max_iter=1000).fit(words.fit_transform([example["text"] for example in job["examples"]]), labels.numpy())
    return head.predict(words.transform([example["text"] for example in job["tests"]])).tolist()


def share_right(job, found):
    return sum(job["labels"][label] == example["label"] for label, example in zip(found, job["tests"])) / len(job["tests"])


def cell_of(line):
    return line["base"], line["set"], line["count"], line["seed"], line.get("training", 0), line["method"]


def main():
    path, results, methods = sys.argv[1:]
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    with open(path, encoding="utf-8") as file:
        given = json.load(file)
    known = set()
    if os.path.exists(results):
        with open(results, encoding="utf-8") as file:
            known = {cell_of(json.loads(line)) for line in file}
    runner = Runner()
    for seed in sorted({job["seed"] for job in given}):
        for method in methods.split(","):
            for job in given:
                line = {"base": job["base"], "set": job["set"], "count": job["count"], "seed": seed, "training": job["training"], "method": method}
                if job["seed"] != seed or cell_of(line) in known or (method in DETERMINISTIC and job["training"] > 0):
                    continue
                start = time.perf_counter()
                job = {**job, "name": method, "tests": given_tests(given, job)}
                line["accuracy"] = share_right(job, runner.run(job))
                line["seconds"] = time.perf_counter() - start
                with open(results, "a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")


def given_tests(given, job):
    return next(other for other in given if other["set"] == job["set"])["tests"]


if __name__ == "__main__":
    main()
