"""Writes what PyTorch makes of pre-training with the tiny checkpoints of tests/fixtures/tiny: masked words, and replaced tokens.

    python make_pretraining_goldens.py [--out FILE]

Of masked words (Devlin et al., 2019) the loss and every gradient in float64, and five steps of AdamW in float32. Of replaced tokens the
same for a generator and a discriminator together: ELECTRA's way (Clark et al., 2020), where both have one table of words, one of positions and one of
segments, and gradient-disentangled sharing (He et al., "DeBERTaV3", 2021, section 3.3), where the discriminator's words are the
generator's, held constant, plus a table of its own. What is masked, and what the generator is taken to have sampled, are formulas, which
tests/native/train/pretraining_test.cc has too. Everything else is as in make_training_goldens.py.
"""

import argparse
import json
from pathlib import Path

import safetensors.torch
import torch
import transformers
from torch.nn import functional

from make_tiny_models import ReplacedTokenHead
from make_training_goldens import DECAY, FIXTURES, RATE, load, summary, texts_of

MASK, STEPS, WARMUP = 4, 5, 1
MASKED_LM = ["bert-masked-lm", "electra-masked-lm", "convbert-masked-lm", "convbert-masked-lm-untied", "deberta-v1-masked-lm",
             "deberta-v2-masked-lm", "deberta-v2-masked-lm-embed-proj", "distilbert-masked-lm", "roberta-masked-lm", "mpnet-masked-lm"]
# Generator, discriminator, weight of the discriminator's loss, whether sharing is disentangled.
DETECTION = {"electra": ("electra-masked-lm", "electra-rtd", 50, False),
             "convbert": ("convbert-masked-lm", "convbert-sequence", 50, False),
             "deberta": ("deberta-v2-masked-lm", "deberta-v2-rtd", 10, True)}
SHARED = ("word_embeddings", "position_embeddings", "token_type_embeddings")


def masked(texts, vocabulary):
    """For each text: masked ids, segments, chosen positions, original ids, and the generator's predictions."""
    row, result = 0, []
    for ids, types in texts:
        changed, chosen, sampled = ids.clone(), [], []
        for place, word in enumerate(ids.tolist()):
            if row % 3 == 1:
                fate = row // 3 % 5
                changed[place] = (row * 11 + 7) % vocabulary if fate == 0 else word if fate == 1 else MASK
                chosen.append(place)
                sampled.append(word if row // 3 % 4 == 0 else (word * 7 + row * 3 + 1) % vocabulary)
            row += 1
        result.append((changed, types, torch.tensor(chosen, dtype=torch.long), ids, torch.tensor(sampled, dtype=torch.long)))
    return result


def run(model, ids, types, **more):
    segments = {"token_type_ids": types[None]} if "token_type_ids" in model.forward.__code__.co_varnames else {}
    return model(input_ids=ids[None], attention_mask=torch.ones_like(ids)[None], **segments, **more)


def masked_loss(model, texts):
    logits = [run(model, ids, types).logits[0][chosen] for ids, types, chosen, _, _ in texts]
    words = [original[chosen] for _, _, chosen, original, _ in texts]
    return functional.cross_entropy(torch.cat(logits), torch.cat(words))


def record(tensors, key, value):
    for what, numbers in summary(value).items():
        tensors[f"{key}/{what}"] = numbers


def optimiser_of(parameters):
    plain = {name for name in parameters if "bias" in name or "LayerNorm" in name}
    groups = [{"params": [v for n, v in parameters.items() if (n in plain) == bare], "weight_decay": 0 if bare else DECAY}
              for bare in (False, True)]
    optimiser = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.999), eps=1e-8)
    return optimiser, transformers.get_linear_schedule_with_warmup(optimiser, WARMUP, STEPS)


def step(optimiser, schedule):
    torch.nn.utils.clip_grad_norm_([value for group in optimiser.param_groups for value in group["params"]], 1.0)
    optimiser.step()
    schedule.step()


def masked_lm(name, model_class):
    tensors = {}
    for dtype in (torch.float64, torch.float32):
        model = load(name, model_class, dtype)
        texts = masked(texts_of(FIXTURES / "tiny" / name), model.config.vocab_size)
        parameters = dict(model.named_parameters())
        if dtype == torch.float64:
            loss = masked_loss(model, texts)
            loss.backward()
            tensors[f"{name}/loss"] = loss.detach().reshape(1).float()
            for parameter, value in parameters.items():
                if value.grad is not None:
                    record(tensors, f"{name}/gradient/{parameter}", value.grad)
            continue
        optimiser, schedule = optimiser_of({n: v for n, v in parameters.items() if f"{name}/gradient/{n}/sums" in tensors})
        losses = []
        for _ in range(STEPS):
            optimiser.zero_grad()
            loss = masked_loss(model, texts)
            loss.backward()
            step(optimiser, schedule)
            losses.append(loss.item())
        tensors[f"{name}/losses"] = torch.tensor(losses, dtype=torch.float32)
        for parameter, value in parameters.items():
            if f"{name}/gradient/{parameter}/sums" in tensors:
                record(tensors, f"{name}/weight/{parameter}", value)
    return tensors


class Formula(torch.nn.Module):
    """ElectraDiscriminatorPredictions with weights from a formula, for a family without a discriminator in transformers."""

    def __init__(self, config):
        super().__init__()
        self.discriminator_predictions = transformers.models.electra.modeling_electra.ElectraDiscriminatorPredictions(config)
        with torch.no_grad():
            for value in self.parameters():
                value.copy_((0.1 * torch.sin(1 + torch.arange(value.numel(), dtype=torch.float64))).reshape(value.shape))

    def forward(self, hidden):
        return self.discriminator_predictions(hidden)


class Discriminator(torch.nn.Module):
    """An encoder and its head, under the names of a checkpoint."""

    def __init__(self, name, model_class, dtype):
        super().__init__()
        # transformers ties a matrix of that checkpoint's masked-LM head that is no output matrix.
        whole = load(name, "DebertaV2Model" if name == "deberta-v2-rtd" else model_class, dtype)
        self.prefix = whole.base_model_prefix
        self.encoder = whole.base_model
        if model_class == "ElectraForPreTraining":
            self.head, self.head_prefix = whole.discriminator_predictions, "discriminator_predictions."
        elif name == "deberta-v2-rtd":
            self.head, self.head_prefix = ReplacedTokenHead(whole.config), "mask_predictions."
            weights = safetensors.torch.load_file(FIXTURES / "tiny" / name / "model.safetensors")
            self.head.load_state_dict({n.removeprefix(self.head_prefix): w for n, w in weights.items() if n.startswith(self.head_prefix)})
        else:
            self.head, self.head_prefix = Formula(whole.config), ""
        self.to(dtype).eval()

    def named(self):
        return {**{f"{self.prefix}.{n}": v for n, v in self.encoder.named_parameters()},
                **{f"{self.head_prefix}{n}": v for n, v in self.head.named_parameters()}}

    def logits(self, ids, types):
        return self.head(run(self.encoder, ids, types).last_hidden_state)[0].reshape(-1)


class Sum(torch.nn.Module):
    """A table that is another's, held constant, plus its own: gradient-disentangled sharing."""

    def __init__(self, base, own):
        super().__init__()
        self.base, self.weight = [base], torch.nn.Parameter((own.weight - base.weight).detach().clone())

    def forward(self, ids):
        return functional.embedding(ids, self.base[0].weight.detach() + self.weight)


class Pair:
    def __init__(self, names, classes, dtype):
        generator, discriminator, self.weight, self.disentangled = names
        self.generator = load(generator, classes[generator], dtype)
        self.discriminator = Discriminator(discriminator, classes[discriminator], dtype)
        self.vocabulary = self.generator.config.vocab_size
        of, to = self.discriminator.encoder.embeddings, self.generator.base_model.embeddings
        for table in SHARED:
            if getattr(of, table, None) is None:
                continue
            if self.disentangled:
                setattr(of, table, Sum(getattr(to, table), getattr(of, table)))
            else:
                setattr(to, table, getattr(of, table))
        self.generator.tie_weights()
        if self.disentangled:
            self.generator_parameters = dict(self.generator.named_parameters())
        else:
            tied = {id(value) for value in self.discriminator.encoder.parameters()}
            self.generator_parameters = {n: v for n, v in self.generator.named_parameters() if id(v) not in tied}

    def losses(self, texts):
        words = masked_loss(self.generator, texts)
        logits, targets = [], []
        for _, types, chosen, original, sampled in texts:
            corrupted = original.clone()
            corrupted[chosen] = sampled
            logits.append(self.discriminator.logits(corrupted, types))
            targets.append((corrupted != original).to(logits[-1].dtype))
        return words, functional.binary_cross_entropy_with_logits(torch.cat(logits), torch.cat(targets))


def detection(key, names, classes):
    tensors = {}
    key = f"detection/{key}"
    for dtype in (torch.float64, torch.float32):
        pair = Pair(names, classes, dtype)
        texts = masked(texts_of(FIXTURES / "tiny" / names[1]), pair.vocabulary)
        sides = {"generator": pair.generator_parameters, "discriminator": pair.discriminator.named()}
        words, replaced = pair.losses(texts)
        (words + pair.weight * replaced).backward()
        sides = {side: {n: v for n, v in named.items() if v.grad is not None} for side, named in sides.items()}
        if dtype == torch.float64:
            tensors[f"{key}/losses"] = torch.stack([words, replaced]).detach().float()
            for side, named in sides.items():
                for parameter, value in named.items():
                    record(tensors, f"{key}/{side}/gradient/{parameter}", value.grad)
            continue
        if pair.disentangled:  # each is clipped by itself
            optimisers = [optimiser_of(named) for named in sides.values()]
        else:
            optimisers = [optimiser_of({f"{side}.{n}": v for side, named in sides.items() for n, v in named.items()})]
        losses = []
        for _ in range(STEPS):
            for optimiser, _ in optimisers:
                optimiser.zero_grad()
            words, replaced = pair.losses(texts)
            (words + pair.weight * replaced).backward()
            for optimiser, schedule in optimisers:
                step(optimiser, schedule)
            losses.append([words.item(), replaced.item()])
        tensors[f"{key}/steps"] = torch.tensor(losses, dtype=torch.float32)
        with torch.no_grad():
            for side, named in sides.items():
                for parameter, value in named.items():
                    table = parameter.split(".")[-2]
                    if side == "discriminator" and pair.disentangled and table in SHARED:
                        value = value + getattr(pair.generator.base_model.embeddings, table).weight
                    record(tensors, f"{key}/{side}/weight/{parameter}", value)
    return tensors


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=FIXTURES / "training" / "pretraining.safetensors")
    args = parser.parse_args()
    torch.set_num_threads(1)
    index = json.loads((FIXTURES / "tiny" / "cases.json").read_text())["cases"]
    classes = {case["name"]: case["model"] for case in index}
    tensors = {}
    for name in MASKED_LM:
        tensors |= masked_lm(name, classes[name])
    for key, names in DETECTION.items():
        tensors |= detection(key, names, classes)
    safetensors.torch.save_file(tensors, args.out, metadata={"made_by": "tests/reference/make_pretraining_goldens.py",
                                                           "torch": torch.__version__, "transformers": transformers.__version__})


if __name__ == "__main__":
    main()
