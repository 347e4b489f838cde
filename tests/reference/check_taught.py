"""Holds what peruse/teach saves to transformers and peft: tiny random checkpoints are taught, and what was saved must load and give the same.

    python check_taught.py [--only TEXT] [--keep FOLDER]

Every checkpoint of BASES is taught every task by every method (taught_cases.mjs does that, and asks Peruse for the results of the
model as it was saved). Then transformers' Auto class of the task reads the folder, or peft reads the adapter onto the checkpoint as
it was; no tensor may be missing, left over, or of another shape. Compared are all hidden states and, for texts, the logits; for
tokens, each token's label and probability; for answers, the five best spans and their probabilities: |ours - theirs| /
max(1, |theirs|), the worst over all cells. Exit code 1 when a difference exceeds 1e-5.

Needs `npm run build` and a Python with requirements-adapters.txt.
"""

import argparse
import collections
import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy
import peft
import tokenizers
import torch
import transformers

HERE = Path(__file__).resolve().parent
TINY = HERE.parent / "fixtures" / "tiny"
BOUND = 1e-5
BASES = [
    "bert-sequence", "bert-token", "bert-masked-lm", "bert-relative-key-query",
    "electra-sequence", "electra-rtd",
    "convbert-sequence", "convbert-bare", "convbert-groups2", "convbert-heads6", "convbert-masked-lm", "convbert-no-projection",
    "deberta-v1-sequence", "deberta-v1-masked-lm", "deberta-v1-c2p",
    "deberta-v2-sequence", "deberta-v2-bare", "deberta-v2-conv", "deberta-v2-own-keys", "deberta-v2-embed-proj", "deberta-v2-masked-lm",
    "distilbert-sequence", "distilbert-masked-lm", "mpnet-sequence", "mpnet-masked-lm", "roberta-sequence", "roberta-masked-lm",
    "xlm-roberta-token", "modernbert-sequence",
]
METHODS = {"head": {"method": "head"}, "layers": {"method": {"layers": 1}}, "lora": {"method": "lora", "lora_rank": 3}, "full": {"method": "full"}}
CLASSES = {
    "text-classification": transformers.AutoModelForSequenceClassification,
    "token-classification": transformers.AutoModelForTokenClassification,
    "question-answering": transformers.AutoModelForQuestionAnswering,
}
# transformers 4.57 makes this one for every BERT, and reads it only where positions are absolute; what nothing reads is not saved.
UNREAD = {"bert-relative-key-query": ["bert.embeddings.position_embeddings.weight"]}
FIRST_WORD = 5  # Before it: what tokenizers put around words.


def takes_types(config):
    return config.get("type_vocab_size", 0) > 1 and "roberta" not in config["model_type"]  # As their tokenizers: type 0 alone.


def write_tokenizer(folder):
    config = json.loads((folder / "config.json").read_text())
    first, last, unknown, special = "[CLS]", "[SEP]", "[UNK]", ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    if "roberta" in config["model_type"] or config["model_type"] == "mpnet":
        first, last, unknown, special = "<s>", "</s>", "<unk>", ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words = special + [f"t{i}" for i in range(FIRST_WORD, config["vocab_size"])]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece({word: i for i, word in enumerate(words)}, unk_token=unknown))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    second = 1 if takes_types(config) else 0
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {last} $B:{second} {last}:{second}",
        special_tokens=[(first, words.index(first)), (last, words.index(last))])
    tokenizer.add_special_tokens(special)
    tokenizer.save(str(folder / "tokenizer.json"))
    return config["vocab_size"]


class Texts:
    def __init__(self, words):
        self.random = numpy.random.default_rng(5)
        self.words = words

    def text(self, count):
        words = self.random.choice(numpy.arange(FIRST_WORD, self.words), count, replace=False)  # Equal answers would be counted as one.
        return " ".join(f"t{i}" for i in words)

    def of(self, task, number):
        """The label, entity or answer of an example is a formula of its number."""
        if task == "question-answering":
            context = self.text(7)
            starts = [i for i, c in enumerate(context) if i == 0 or context[i - 1] == " "]
            return {"question": self.text(3), "context": context,
                    "answer": {"start": starts[number % 5], "end": context.find(" ", starts[number % 5 + 1])}}
        text = self.text(5 + number % 4)
        if task == "token-classification":
            kinds = ["X", "Y"]
            return {"text": text, "entities": [{"start": 0, "end": text.index(" "), "label": kinds[number % 2]}]}
        return {"text": text, "label": ["a", "b", "c"][number % 3]}


def make_jobs(folder, only):
    jobs = []
    for base in BASES:
        source = folder / "bases" / base
        source.mkdir(parents=True)
        for name in ["config.json", "model.safetensors"]:
            shutil.copy(TINY / base / name, source)
        words = write_tokenizer(source)
        for task in CLASSES:
            texts = Texts(words)
            asks = [texts.of(task, number) for number in range(4)]
            if task == "text-classification":
                asks.append({"text": texts.text(4), "text_pair": texts.text(6)})
            for method, options in METHODS.items():
                if method == "lora" and base.startswith("modernbert"):
                    options = {**options, "lora_targets": ["Wqkv"]}
                name = f"{base}/{task}/{method}"
                if only in name:
                    jobs.append({"name": name, "base": str(source), "out": str(folder / "taught" / name.replace("/", "-")), "task": task,
                                 "examples": [texts.of(task, number) for number in range(12)], "asks": asks,
                                 "options": {**options, "epochs": 3, "learning_rate": 2e-2, "batch_size": 4}})
    return jobs


def load(job):
    """The model as transformers and peft load it, and missing or unexpected tensors."""
    kind = CLASSES[job["task"]]
    if job["options"]["method"] != "lora":
        model, about = kind.from_pretrained(job["out"], output_loading_info=True)
        unread = UNREAD.get(job["name"].split("/")[0], [])
        wrong = {key: sorted(map(str, value)) for key, value in about.items() if set(value) - set(unread)}
        return model.eval(), wrong
    config = transformers.AutoConfig.from_pretrained(job["out"])
    model = kind.from_pretrained(job["base"], config=config, dtype=torch.float32, ignore_mismatched_sizes=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = peft.PeftModel.from_pretrained(model, job["out"])
    wrong = [str(one.message)[:300] for one in told if "adapter" in str(one.message)]
    kept = peft.get_peft_model_state_dict(model)
    with (Path(job["out"]) / "adapter_model.safetensors").open("rb") as file:
        names = set(json.loads(file.read(int.from_bytes(file.read(8), "little")))) - {"__metadata__"}
    if names != set(kept):
        wrong.append(f"names: ours alone {sorted(names - set(kept))}, peft's alone {sorted(set(kept) - names)}")
    return model.get_base_model().eval(), wrong  # peft 0.18's own class for answers forgets token_type_ids on the way.


def difference(ours, theirs):
    ours, theirs = numpy.asarray(ours, dtype=numpy.float64).ravel(), numpy.asarray(theirs, dtype=numpy.float64).ravel()
    if ours.size != theirs.size:
        return float("nan")
    return float(numpy.max(numpy.abs(ours - theirs) / numpy.maximum(1, numpy.abs(theirs))))


def spans(out, encoding, context, is_modernbert):
    """The five best spans of at most four tokens: (start, end) in the context, and the product of their probabilities."""
    inside = [i for i, part in enumerate(encoding.sequence_ids) if part == 1]
    # As in transformers' pipeline, the softmax includes [CLS]. ModernBERT's tokenizer class does not define a [CLS], nor does a file here.
    read = inside if is_modernbert else [0] + inside
    first, last = (torch.softmax(logits[0, read], dim=0)[-len(inside):] for logits in (out.start_logits, out.end_logits))
    found = sorted(((float(first[i] * last[j]), i, j) for i in range(len(inside)) for j in range(i, min(i + 4, len(inside)))), reverse=True)
    return [(encoding.offsets[inside[i]][0], encoding.offsets[inside[j]][1], score) for score, i, j in found[:5]]


def compare(job, result):
    model, wrong = load(job)
    tokenizer = tokenizers.Tokenizer.from_file(job["out"] + "/tokenizer.json")
    worst, wrong = 0.0, ([f"loading: {wrong}"] if wrong else [])
    for ask, answer, hidden in zip(job["asks"], result["answers"], result["hidden"]):
        encoding = tokenizer.encode(ask.get("text", ask.get("question")), ask.get("text_pair", ask.get("context")))
        inputs = {"input_ids": torch.tensor([encoding.ids])}
        if takes_types(model.config.to_dict()):
            inputs["token_type_ids"] = torch.tensor([encoding.type_ids])
        with torch.no_grad():
            out = model(**inputs, output_hidden_states=True)
            states = list(out.hidden_states)
            if model.config.model_type == "modernbert":  # whose last one transformers 4 returns before final_norm
                states[-1] = model.base_model(**inputs).last_hidden_state
        differences = [difference(ours, theirs) for ours, theirs in zip(hidden, states, strict=True)]
        if job["task"] == "text-classification":
            scores = {one["label"]: one["score"] for one in answer}
            differences.append(difference([scores[model.config.id2label[i]] for i in range(3)], out.logits))
        elif job["task"] == "token-classification":
            own = [i for i, special in enumerate(encoding.special_tokens_mask) if not special]
            best = torch.softmax(out.logits[0, own], dim=1).max(dim=1)
            if [model.config.id2label[int(i)] for i in best.indices] != [one["entity"] for one in answer]:
                wrong.append("labels of tokens")
            differences.append(difference([one["score"] for one in answer], best.values))
        else:
            theirs = spans(out, encoding, ask["context"], model.config.model_type == "modernbert")
            if [place[:2] for place in theirs] != [(one["start"], one["end"]) for one in answer]:
                wrong.append(f"spans {theirs} {answer}")
            differences.append(difference([one["score"] for one in answer], [place[2] for place in theirs]))
        worst = max(worst, *differences, key=lambda value: (value != value, value))
    if not worst <= BOUND:
        wrong.append(f"difference {worst:.2e}")
    return worst, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        jobs = make_jobs(folder, options.only)
        (folder / "jobs.json").write_text(json.dumps(jobs))
        subprocess.run(["node", HERE / "taught_cases.mjs", folder / "jobs.json", folder / "results.json"], check=True)
        results = json.loads((folder / "results.json").read_text())
        worst, bad = collections.Counter(), 0
        for job, result in zip(jobs, results, strict=True):
            try:
                value, wrong = (float("nan"), [result["error"]]) if "error" in result else compare(job, result)
            except (KeyError, OSError, RuntimeError, ValueError) as error:
                value, wrong = float("nan"), [f"{type(error).__name__}: {error}"]
            if wrong:
                bad += 1
                print(job["name"], *wrong, sep="\n    ")
            else:
                _, task, method = job["name"].split("/")
                worst[f"{task} {method}"] = max(worst[f"{task} {method}"], value)
    for name, value in sorted(worst.items()):
        print(f"{name}: {value:.1e} at worst")
    print(f"{len(jobs) - bad} of {len(jobs)} agree (transformers {transformers.__version__}, peft {peft.__version__})")
    return 1 if bad or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
