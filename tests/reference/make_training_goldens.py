"""Writes what PyTorch's gradients and AdamW make of the tiny checkpoints of tests/fixtures/tiny and tests/fixtures/conv.

    python make_training_goldens.py [--out FILE] [--only NAME ...]

With --only, the results of all other cases stay as they are in FILE.

For each case: the loss and the gradient of every parameter, in float64 and without dropout, on the texts of the case's
expected.safetensors; what dropout works on in a training pass over the longest text, as [rows, columns] of each place; of a few cases also 30
steps of AdamW in float32, and scale-invariant fine-tuning. Whole gradients would be as large as the checkpoints, and a
hash cannot be compared within a tolerance. So of each tensor we keep up to 16 of its cells, its largest, and a sum of all its cells with
signs that look random: a cell that is wrong shows in that sum.

Texts go through the model one at a time, since padding changes what ConvBERT computes. Labels are a formula, so that nothing but
results needs to be stored; tests/native/train/golden_test.cc has the same.
"""

import argparse
import copy
import inspect
import json
import tempfile
from pathlib import Path

import numpy
import safetensors.torch
import torch
import transformers
from torch.nn import functional

import jina_bert
import make_conv_models

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
CASES = [
    "bert-sequence", "bert-token", "bert-question", "bert-masked-lm", "bert-relative-key", "bert-relative-key-query",
    "bert-laplace", "bert-leaky-relu", "bert-relu2",
    "electra-sequence", "electra-token", "electra-question", "electra-masked-lm", "electra-rtd",
    "convbert-sequence", "convbert-groups2", "convbert-heads6", "convbert-ratio8", "convbert-kernel1", "convbert-token",
    "convbert-question", "convbert-masked-lm", "convbert-no-projection",
    "deberta-v1-sequence", "deberta-v1-c2p", "deberta-v1-p2c", "deberta-v1-token", "deberta-v1-masked-lm",
    "deberta-v2-sequence", "deberta-v2-conv", "deberta-v2-conv-groups", "deberta-v2-own-keys", "deberta-v2-buckets64",
    "deberta-v2-embed-proj", "deberta-v2-token", "deberta-v2-question", "deberta-v2-masked-lm", "deberta-v2-c2p",
    "distilbert-sequence", "distilbert-token", "distilbert-question", "distilbert-masked-lm",
    "roberta-sequence", "roberta-relative-key", "roberta-masked-lm", "xlm-roberta-token", "xlm-roberta-question",
    "modernbert-sequence", "modernbert-sequence-mean", "modernbert-biases", "modernbert-all-global", "modernbert-token",
    "modernbert-question", "modernbert-masked-lm",
    "albert-sequence", "albert-groups", "albert-token", "albert-masked-lm",
    "jina-bert-sequence", "jina-bert-masked-lm", "jina-bert-normed-question",
]
# With transformers 5 (requirements-encoders.txt): --only and their names.
NEWER_CASES = ["nomic-bert-sequence", "nomic-bert-token", "nomic-bert-masked-lm", "gte-sequence", "gte-token", "gte-masked-lm",
               "eurobert-sequence", "eurobert-sequence-bos", "eurobert-sequence-mean", "eurobert-token", "eurobert-masked-lm",
               "eurobert-masked-lm-tied"]
ADAMW_CASES = ["bert-sequence", "convbert-sequence", "deberta-v2-sequence", "electra-sequence"]
CONV_CASES = [name for name, *_ in make_conv_models.CASES]
SAMPLES = 16
SIFT_CASES = ["bert-sequence", "convbert-sequence", "deberta-v2-sequence"]
SIFT_WEIGHT, SIFT_PACE = 4.0, 1e-4
STEPS, WARMUP, RATE, DECAY = 30, 3, 1e-3, 0.01


def summary(values):
    """Some cells, the largest, and the sum with signs of a tensor."""
    cells = values.detach().double().numpy().ravel()
    places = numpy.arange(min(SAMPLES, cells.size)) * cells.size // min(SAMPLES, cells.size)
    signs = 1 - 2 * ((numpy.arange(cells.size, dtype=numpy.uint64) * 2654435761 >> 15) & 1).astype(numpy.float64)
    return {"samples": torch.tensor(cells[places], dtype=torch.float32),
            "sums": torch.tensor([numpy.abs(cells).max(), (cells * signs).sum()], dtype=torch.float32)}


def texts_of(folder):
    expected = safetensors.torch.load_file(folder / "expected.safetensors")
    return [(expected[f"{name}.input_ids"].long(), expected[f"{name}.token_type_ids"].long()) for name in "abcd"]


def logits_of(model, texts):
    takes_types = "token_type_ids" in inspect.signature(model.forward).parameters
    outputs = []
    for ids, types in texts:
        segments = {"token_type_ids": types[None]} if takes_types else {}
        outputs.append(model(input_ids=ids[None], attention_mask=torch.ones_like(ids)[None], **segments))
    return outputs


def loss_of(model, texts):
    """The labels' formulas: tests/native/train/golden_test.cc."""
    outputs = logits_of(model, texts)
    kind = type(model).__name__.rsplit("For", 1)[1]
    if kind == "SequenceClassification":
        logits = torch.cat([output.logits for output in outputs])
        return functional.cross_entropy(logits, torch.arange(len(texts)) % logits.shape[1])
    if kind == "TokenClassification":
        logits = torch.cat([output.logits[0] for output in outputs])
        rows = torch.arange(len(logits))
        labels = torch.where(rows % 5 == 4, -100, rows * 7 % logits.shape[1])
        return functional.cross_entropy(logits, labels)
    if kind == "QuestionAnswering":
        losses = []
        for (ids, _), output in zip(texts, outputs):
            for logits, place in ((output.start_logits, len(ids) // 3), (output.end_logits, len(ids) // 2)):
                losses.append(functional.cross_entropy(logits, torch.tensor([place])))
        return torch.stack(losses).mean()
    if kind == "MaskedLM":
        logits = torch.cat([output.logits[0] for output in outputs])
        ids = torch.cat([ids for ids, _ in texts])
        chosen = torch.arange(len(logits)) % 3 == 1
        return functional.cross_entropy(logits[chosen], (ids[chosen] * 5 + 3) % logits.shape[1])
    if kind == "PreTraining":  # ELECTRA's detection of replaced tokens
        logits = torch.cat([output.logits.reshape(-1) for output in outputs])
        return functional.binary_cross_entropy_with_logits(logits, (torch.arange(len(logits)) % 2).to(logits.dtype))
    raise ValueError(kind)


def class_of(name):
    return getattr(jina_bert if name.startswith("JinaBert") else transformers, name)


def load(name, model_class, dtype):
    model = class_of(model_class).from_pretrained(FIXTURES / "tiny" / name, attn_implementation="eager")
    for module in model.modules():
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None  # else the row of the padding token, which random texts may hold, would get no gradient
    return model.to(dtype).eval()


def gradients(name, model_class, texts):
    model = load(name, model_class, torch.float64)
    loss = loss_of(model, texts)
    loss.backward()
    return gradients_of(name, model, loss)


def gradients_of(name, model, loss):
    tensors = {f"{name}/loss": loss.detach().reshape(1).float()}
    gradients_by_name = {parameter: value.grad for parameter, value in model.named_parameters() if value.grad is not None}
    if name in NEWER_CASES:
        gradients_by_name = as_stored(model)
    for parameter, gradient in gradients_by_name.items():
        for what, numbers in summary(gradient).items():
            tensors[f"{name}/gradient/{parameter}/{what}"] = numbers
    return tensors


def as_stored(model):
    """The gradients by the names of the checkpoint's tensors: transformers 5 renames and joins parameters when it saves a model."""
    twin = copy.deepcopy(model)
    for (_, parameter), (_, value) in zip(twin.named_parameters(), model.named_parameters(), strict=True):
        parameter.data = torch.full_like(value, torch.nan) if value.grad is None else value.grad.clone()
    with tempfile.TemporaryDirectory() as folder:
        twin.save_pretrained(folder)
        tensors = safetensors.torch.load_file(Path(folder) / "model.safetensors")
    return {parameter: value for parameter, value in tensors.items() if not value.isnan().any()}


def conv_gradients(name, model_type):
    """The same of the encoders of make_conv_models.py, whose head is ConvBERT's."""
    folder = FIXTURES / "conv" / name
    config = json.loads((folder / "config.json").read_text())
    model = torch.nn.Module()
    setattr(model, model_type, make_conv_models.Encoder(config, model_type == "dynamicconv"))
    model.classifier = make_conv_models.Classifier(config)
    model.load_state_dict(safetensors.torch.load_file(folder / "model.safetensors"))
    model.double()
    texts = texts_of(folder)
    logits = torch.stack([model.classifier(getattr(model, model_type)(ids, types)[-1]) for ids, types in texts])
    loss = functional.cross_entropy(logits, torch.arange(len(texts)) % logits.shape[1])
    loss.backward()
    return gradients_of(name, model, loss)


def dropouts(name, model_class, text):
    """Shapes of everything that is dropped out, attention's probabilities with the rows of all heads."""
    config = transformers.AutoConfig.from_pretrained(FIXTURES / "tiny" / name)
    rates = {"hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout", "seq_classif_dropout", "qa_dropout",
             "embedding_dropout", "mlp_dropout", "classifier_dropout"}
    for rate in rates & set(config.to_dict()):
        setattr(config, rate, 0.1)
    model = class_of(model_class).from_pretrained(FIXTURES / "tiny" / name, config=config, attn_implementation="eager").train()
    shapes, plain = [], functional.dropout

    def record(values, p=0.5, training=True, inplace=False):
        if training and p > 0:
            shapes.append([values.numel() // values.shape[-1], values.shape[-1]])
        return plain(values, p, training, inplace)

    functional.dropout = record
    try:
        logits_of(model, [text])
    finally:
        functional.dropout = plain
    return {f"{name}/dropout": torch.tensor(sorted(shapes), dtype=torch.float32)}


def adamw(name, model_class, texts):
    """As Trainer: no decay for biases and norms, clipping to 1, linear warm-up and decay."""
    model = load(name, model_class, torch.float32)
    plain = {parameter for parameter, _ in model.named_parameters() if "bias" in parameter or "LayerNorm" in parameter}
    groups = [{"params": [v for n, v in model.named_parameters() if (n in plain) == bare], "weight_decay": 0 if bare else DECAY}
              for bare in (False, True)]
    optimiser = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.999), eps=1e-8)
    schedule = transformers.get_linear_schedule_with_warmup(optimiser, WARMUP, STEPS)
    losses = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss = loss_of(model, texts)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    tensors = {f"{name}/adamw/losses": torch.tensor(losses, dtype=torch.float32)}
    for parameter, value in model.named_parameters():
        for what, numbers in summary(value).items():
            tensors[f"{name}/weight/{parameter}/{what}"] = numbers
    return tensors


class DisturbedNorm(torch.nn.Module):
    """A layer norm after a normalisation without parameters and a perturbation, for each text in turn."""

    def __init__(self, norm):
        super().__init__()
        self.norm, self.deltas, self.constant, self.turn = norm, None, False, 0

    def forward(self, embeddings):
        centred = embeddings - embeddings.mean(-1, keepdim=True)
        normalised = centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + 1e-7)
        if self.constant:
            normalised = normalised.detach()
        if self.deltas is not None:
            normalised = normalised + self.deltas[self.turn]
            self.turn = (self.turn + 1) % len(self.deltas)
        return self.norm(normalised)


def sift(name, model_class, texts):
    """Scale-invariant fine-tuning (He et al., 2020, section 4) in plain PyTorch, from a perturbation that is a formula."""
    model = load(name, model_class, torch.float64)
    embeddings = model.base_model.embeddings
    norm = embeddings.LayerNorm = DisturbedNorm(embeddings.LayerNorm)
    width = norm.norm.weight.numel()
    starts = numpy.cumsum([0] + [len(ids) for ids, _ in texts])
    everything = 0.01 * torch.sin(1 + torch.arange(int(starts[-1]) * width, dtype=torch.float64)).reshape(-1, width)

    def disturbed(deltas):
        norm.deltas, norm.constant, norm.turn = deltas, deltas is not None, 0
        return torch.cat([output.logits for output in logits_of(model, texts)])

    def divergence(one, other):
        terms = [-(a.detach().softmax(-1) * b.log_softmax(-1)).sum() for a, b in ((other, one), (one, other))]
        return sum(terms)

    clean = disturbed(None)
    task = functional.cross_entropy(clean, torch.arange(len(texts)) % clean.shape[1])
    deltas = [everything[a:b].clone().requires_grad_() for a, b in zip(starts, starts[1:])]
    ascent = torch.autograd.grad(divergence(disturbed(deltas), clean.detach()), deltas)
    with torch.no_grad():
        deltas = [d + SIFT_PACE * g / (1e-6 + g.abs().amax(-1, keepdim=True)) for d, g in zip(deltas, ascent)]
    loss = task + SIFT_WEIGHT * divergence(disturbed(deltas), clean) / len(texts)
    model.zero_grad()
    loss.backward()
    tensors = {f"{name}/sift/loss": loss.detach().reshape(1).float()}
    for what, numbers in summary(torch.cat(deltas)).items():
        tensors[f"{name}/sift/perturbation/{what}"] = numbers
    for parameter, value in model.named_parameters():
        if value.grad is None:
            continue
        for what, numbers in summary(value.grad).items():
            tensors[f"{name}/sift/gradient/{parameter.replace('.LayerNorm.norm.', '.LayerNorm.')}/{what}"] = numbers
    return tensors


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=FIXTURES / "training" / "goldens.safetensors")
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    torch.set_num_threads(1)
    index = json.loads((FIXTURES / "tiny" / "cases.json").read_text())["cases"]
    classes = {case["name"]: case["model"] for case in index if not case["choices"]}
    tensors = {}
    if args.only:
        tensors = {key: value for key, value in safetensors.torch.load_file(args.out).items() if key.split("/")[0] not in args.only}
    for name in args.only or CASES:
        if name in CONV_CASES:
            continue
        if name not in classes:
            print("no such tiny checkpoint:", name)
            continue
        texts = texts_of(FIXTURES / "tiny" / name)
        tensors |= gradients(name, classes[name], texts)
        tensors |= dropouts(name, classes[name], max(texts, key=lambda text: len(text[0])))
        if name in ADAMW_CASES:
            tensors |= adamw(name, classes[name], texts)
        if name in SIFT_CASES:
            tensors |= sift(name, classes[name], texts)
    for name, _, model_type, _ in make_conv_models.CASES:
        if not args.only or name in args.only:
            tensors |= conv_gradients(name, model_type)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    safetensors.torch.save_file(tensors, args.out, metadata={"made_by": "tests/reference/make_training_goldens.py",
                                                           "torch": torch.__version__, "transformers": transformers.__version__})


if __name__ == "__main__":
    main()
