"""The other side of tests/bench/few_shot.mjs: few_shot.py JOBS RESULTS. Prints nothing; writes for each job the share of its tests that it gets right.

`full`: as transformers' Trainer does it: AdamW, no decay for biases and norms, a tenth of the steps of warm-up, then linear to zero, gradients
clipped at 1, batches of 16, padded. The classifier starts at random.
`logistic`: a logistic regression (scikit-learn, C = 1) on the mean of the token states, of length one.
`setfit`: Tunstall et al., 2022: the encoder learns which pairs of texts have one label (cosine similarity, squared error, 20 pairs of both kinds a
text, one epoch, batches of 16, AdamW at 2e-5), then a logistic regression on its vectors.
`tfidf`: a logistic regression (C = 10) on TF-IDF of words and pairs of words.

A text that is measured goes through the model with texts of its own length alone: padding changes what ConvBERT computes.
"""

import json
import math
import sys

import torch
import transformers
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from tokenizers import Tokenizer
from torch.nn import functional

BATCH = 16
MOST_TOKENS = 64


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
    return model, fresh


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


def sentence_vectors(encoder, texts):
    """Means of the token states, of length one."""
    vectors = []
    for text in texts:
        hidden = encoder(**batch_of([text])).last_hidden_state[0]
        vectors.append(functional.normalize(hidden.mean(dim=0), dim=0))
    return torch.stack(vectors)


def padded_vectors(encoder, texts):
    batch = batch_of(texts)
    hidden = encoder(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(2)
    return functional.normalize((hidden * mask).sum(dim=1) / mask.sum(dim=1), dim=1)


def learn_pairs(encoder, texts, labels, seed):
    """Contrastive learning of SetFit."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda numbers: numbers[int(torch.randint(len(numbers), (1,), generator=generator))]
    pairs = []
    for i, label in enumerate(labels.tolist()):
        same = [j for j, other in enumerate(labels.tolist()) if other == label and j != i]
        others = [j for j, other in enumerate(labels.tolist()) if other != label]
        for _ in range(20):
            if same:
                pairs.append((i, draw(same), 1.0))
            pairs.append((i, draw(others), 0.0))
    order = torch.randperm(len(pairs), generator=generator).tolist()
    optimiser = torch.optim.AdamW(encoder.parameters(), lr=2e-5, weight_decay=0.01)
    steps = math.ceil(len(pairs) / BATCH)
    schedule = transformers.get_linear_schedule_with_warmup(optimiser, math.ceil(0.1 * steps), steps)
    encoder.train()
    for first in range(0, len(order), BATCH):
        part = [pairs[i] for i in order[first:first + BATCH]]
        one, other = (padded_vectors(encoder, [texts[pair[side]] for pair in part]) for side in (0, 1))
        loss = functional.mse_loss((one * other).sum(dim=1), torch.tensor([pair[2] for pair in part]))
        loss.backward()
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
    encoder.eval()


def by_vectors(job, texts, tests, labels):
    encoder = transformers.AutoModel.from_pretrained(job["model"], dtype=torch.float32).eval()
    if job["name"] == "setfit":
        learn_pairs(encoder, texts, labels, job["settings"]["seed"])
    with torch.no_grad():
        head = LogisticRegression(max_iter=1000).fit(sentence_vectors(encoder, texts).numpy(), labels.numpy())
        return head.predict(sentence_vectors(encoder, tests).numpy()).tolist()


def by_words(job, labels):
    words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2))
    head = LogisticRegression(C=10, max_iter=1000).fit(words.fit_transform([example["text"] for example in job["examples"]]), labels.numpy())
    return head.predict(words.transform([example["text"] for example in job["tests"]])).tolist()


def run(job):
    labels = torch.tensor([job["labels"].index(example["label"]) for example in job["examples"]])
    if job["name"] == "tfidf":
        return share_right(job, by_words(job, labels))
    tokenizer = Tokenizer.from_file(job["model"] + "/tokenizer.json")
    tokenizer.enable_truncation(MOST_TOKENS)
    tokenizer.no_padding()
    encode = lambda examples: [encoding.ids for encoding in tokenizer.encode_batch([example["text"] for example in examples])]
    texts, tests = encode(job["examples"]), encode(job["tests"])
    if job["name"] != "full":
        return share_right(job, by_vectors(job, texts, tests, labels))
    model, _ = start_model(job)
    teach_full(model, texts, labels, job["settings"])
    return share_right(job, compute(model, tests).argmax(dim=1).tolist())


def share_right(job, found):
    return sum(job["labels"][label] == example["label"] for label, example in zip(found, job["tests"])) / len(job["tests"])


def main():
    jobs, results = sys.argv[1:]
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    found = [run(job) for job in json.load(open(jobs, encoding="utf-8"))]
    with open(results, "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
