"""Writes tiny random checkpoints and what the reference implementation computes with them.

    python make_tiny_models.py [--out-dir DIR] [--only NAME ...]

The layout of the output is described in tests/fixtures/tiny/README.md.
"""

import argparse
import hashlib
import inspect
import json
from pathlib import Path

import safetensors
import safetensors.torch
import tokenizers
import torch
import transformers
from torch import nn

import jina_bert
import nomic_mixture
from tiny_cases import all_cases

OUT_DIR = Path(__file__).resolve().parents[1] / "fixtures" / "tiny"
SCALE = 0.2  # large enough that a wrong term changes the result visibly


def generator_of(name):
    seed = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
    return torch.Generator().manual_seed(seed)


def is_modernbert(model):
    return type(model).__name__.startswith("ModernBert")


def has_rotary_positions(model):
    return type(model).__name__.startswith(("ModernBert", "NomicBert", "Gte", "EuroBert", "Qwen3", "Gemma3", "OpenAIPrivacyFilter", "JinaEmbeddingsV3"))


def names_norms_freely(model):
    """Whether LayerNorms of the family have other names than LayerNorm."""
    return has_rotary_positions(model) or type(model).__name__.startswith(("Albert", "JinaBert"))


def randomise(module, generator, scale=SCALE):
    """Normal weights of deviation `scale` everywhere; LayerNorm weights are around 1."""
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
            if type(module).__name__.startswith("Gemma3"):
                continue  # which stores the weights of norms minus 1
            if name.endswith("LayerNorm.weight") or (names_norms_freely(module) and "norm" in name and name.endswith(".weight")):
                parameter.add_(1.0)


class ReplacedTokenHead(nn.Module):
    """DeBERTa v3's detection head as its authors describe it; transformers lacks a class for it."""

    def __init__(self, config):
        super().__init__()
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.classifier = nn.Linear(config.hidden_size, 1)

    def forward(self, hidden):
        mixed = self.LayerNorm(hidden + hidden[:, :1])
        return self.classifier(nn.functional.gelu(self.dense(mixed))).squeeze(-1)


def decode_masks(model, positions, mask, hidden_states):
    """Enhanced mask decoder: the last layer twice, its query stream fed with absolute positions."""
    encoder = model.deberta.encoder
    keys = hidden_states[-2]
    queries = positions[:keys.shape[1]] + keys
    attention_mask = encoder.get_attention_mask(mask)
    relative_pos = encoder.get_rel_pos(keys)
    for _ in range(2):
        output = encoder.layer[-1](keys, attention_mask, query_states=queries, relative_pos=relative_pos,
                                   rel_embeddings=encoder.get_rel_embedding(), output_attentions=False)
        queries = output[0] if isinstance(output, tuple) else output
    return model.lm_predictions(queries, model.deberta.embeddings.word_embeddings)


def publish(case, folder):
    """Puts the configuration and the tensors' names of the authors' own code in place of those of transformers."""
    config = json.loads((folder / "config.json").read_text())
    kept = {name: config[name] for name in ("architectures", "id2label", "label2id", "hidden_size", "num_hidden_layers", "num_attention_heads",
                                            "intermediate_size", "hidden_act", "vocab_size", "type_vocab_size", "layer_norm_eps")
            if name in config and "n_embd" not in case.published or name in ("architectures", "id2label", "label2id") and name in config}
    (folder / "config.json").write_text(json.dumps(kept | case.published, indent=2) + "\n")
    path, tensors = folder / "model.safetensors", {}
    if "lora_rank" in case.published:
        safetensors.torch.save_file(with_adapters(case, safetensors.torch.load_file(path)), path, metadata={"format": "pt"})
        return
    if case.published.get("model_type") == "xlm-roberta-flash":
        safetensors.torch.save_file(flash_names(safetensors.torch.load_file(path)), path, metadata={"format": "pt"})
        return
    for name, value in safetensors.torch.load_file(path).items():
        name = name.replace("nomic_bert.", "bert.", 1) if name.startswith("nomic_bert.") else name.replace("gte.", "new.", 1)
        if case.published.get("mlp_fc1_bias") is False and name.startswith("cls.") and name.endswith("bias") and "layer_norm" not in name:
            assert not value.any()
        elif case.published.get("pack_qkv") is False and "qkv_proj" in name:
            for letter, part in zip("qkv", value.chunk(3)):
                tensors[name.replace("qkv_proj", letter + "_proj")] = part.contiguous()
        else:
            tensors[name] = value
    safetensors.torch.save_file(tensors, path, metadata={"format": "pt"})


def flash_names(tensors):
    """Tensors of an XLM-RoBERTa with the names of Jina's code. Query, key and value projection are one matrix."""
    names = {"embeddings.LayerNorm": "emb_ln", "encoder.layer.": "encoder.layers.", "attention.output.dense": "mixer.out_proj",
             "attention.output.LayerNorm": "norm1", "intermediate.dense": "mlp.fc1", "output.dense": "mlp.fc2", "output.LayerNorm": "norm2"}
    result = {}
    for name, value in tensors.items():
        if ".self.key." in name or ".self.value." in name:
            continue
        if ".self.query." in name:
            parts = [tensors[name.replace("query", part)] for part in ("query", "key", "value")]
            name, value = name.replace("attention.self.query", "mixer.Wqkv"), torch.cat(parts)
        for old, new in names.items():
            name = name.replace(old, new)
        result[name] = value
    return result


def with_adapters(case, tensors):
    """Each matrix as Jina's parametrization of it: original + alpha / rank B A of a task; of embeddings original + alpha / rank A B. Of the
    case's task the sum is the matrix."""
    generator, published = generator_of(case.name + " adapters"), case.published
    tasks, rank = published["lora_adaptations"], published["lora_rank"]
    result = {}
    for name, value in tensors.items():
        name = "roberta." + name
        if value.dim() != 2:
            result[name] = value
            continue
        rows, cols = value.shape
        is_table = "embeddings" in name
        a = torch.randn((len(tasks), rows, rank) if is_table else (len(tasks), rank, cols), generator=generator) * SCALE
        b = torch.randn((len(tasks), rank, cols) if is_table else (len(tasks), rows, rank), generator=generator) * SCALE
        original = value
        if "lora_task" in published:
            task = tasks.index(published["lora_task"])
            original = value - published["lora_alpha"] / rank * (a[task] @ b[task] if is_table else b[task] @ a[task])
        name = name.removesuffix("weight") + "parametrizations.weight."
        result |= {name + "original": original.contiguous(), name + "0.lora_A": a, name + "0.lora_B": b}
    return result


def build_mixture(case, folder):
    """The same of NomicBERT 2: the tensors' names are those of the class."""
    fields = case.published | {"architectures": [case.model]}
    model = nomic_mixture.NomicBertModel(transformers.PretrainedConfig(**fields)).eval()
    randomise(model, generator_of(case.name))
    dtype = getattr(torch, case.dtype)
    safetensors.torch.save_file({name: value.to(dtype) for name, value in model.state_dict().items()}, folder / "model.safetensors",
                                metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(fields, indent=2) + "\n")
    return model.to(dtype).float(), {}


def build(case, folder):
    """Saves the checkpoint in its storage type and returns the float32 model of the rounded weights."""
    if "num_experts" in case.published:
        return build_mixture(case, folder)
    generator = generator_of(case.name)
    model_class = getattr(jina_bert if case.model.startswith("JinaBert") else transformers, case.model)
    config = model_class.config_class(**case.config)
    tied = config.tie_word_embeddings
    if not getattr(config, "legacy", True):
        config.tie_word_embeddings = False  # else the class would tie lm_head.dense, which is no output matrix
    model = model_class._from_config(config, attn_implementation="eager").eval()
    # Its widths are twice those of the other cases.
    randomise(model, generator, SCALE / 2 if case.model.startswith("OpenAIPrivacyFilter") else SCALE)
    if case.published.get("mlp_fc1_bias") is False and case.model.endswith("MaskedLM"):
        for bias in (model.cls.predictions.transform.dense.bias, model.cls.predictions.bias):
            bias.data.zero_()
    model.tie_weights()
    model.config.tie_word_embeddings = tied
    dtype = getattr(torch, case.dtype)
    model.to(dtype).save_pretrained(folder, safe_serialization=True)
    extra = {}
    if case.extra_head == "replaced-token-detection":
        head = ReplacedTokenHead(model.config)
        randomise(head, generator)
        extra = {f"mask_predictions.{name}": value.data for name, value in head.named_parameters()}
    elif case.extra_head == "enhanced-mask-decoder":
        shape = (model.config.max_position_embeddings, model.config.hidden_size)
        extra = {"deberta.embeddings.position_embeddings.weight": torch.randn(shape, generator=generator) * SCALE}
    if extra:
        path = folder / "model.safetensors"
        tensors = safetensors.torch.load_file(path) | {k: v.to(dtype).contiguous() for k, v in extra.items()}
        safetensors.torch.save_file(tensors, path, metadata={"format": "pt"})
    if has_rotary_positions(model):  # whose buffers of frequencies the storage type would round
        model = model_class.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    if case.published:
        publish(case, folder)
    return model.float(), {name: value.to(dtype).float() for name, value in extra.items()}


def head_outputs(case, model, extra, outputs, mask):
    """The named results of the case's head, without the batch axis."""
    if case.extra_head == "replaced-token-detection":
        head = ReplacedTokenHead(model.config)
        head.load_state_dict({name.removeprefix("mask_predictions."): value for name, value in extra.items()})
        return {"logits": head(outputs.hidden_states[-1])[0]}
    if case.extra_head == "enhanced-mask-decoder":
        positions = extra["deberta.embeddings.position_embeddings.weight"]
        return {"logits": decode_masks(model, positions, mask, outputs.hidden_states)[0]}
    if "start_logits" in outputs:
        return {"start_logits": outputs.start_logits[0], "end_logits": outputs.end_logits[0]}
    return {"logits": outputs.logits[0]} if "logits" in outputs else {}


def run(case, model, extra):
    """One text at a time and never padded, since padding changes what ConvBERT computes."""
    generator = generator_of(case.name + " inputs")
    vocab, types = model.config.vocab_size, getattr(model.config, "type_vocab_size", 0)
    takes_segments = "token_type_ids" in inspect.signature(model.forward).parameters
    tensors = {}
    for name, length in zip("abcd", (1, 2, 11, case.long)):
        shape = (case.choices, length) if case.choices else (length,)
        ids = torch.randint(0, vocab, shape, generator=generator)
        token_types = torch.randint(0, max(types, 1), shape, generator=generator)
        mask = torch.ones_like(ids)[None]
        with torch.no_grad():
            segments = {"token_type_ids": token_types[None]} if takes_segments else {}
            outputs = model(input_ids=ids[None], **segments, attention_mask=mask, output_hidden_states=True)
            heads = head_outputs(case, model, extra, outputs, mask)
        tensors[f"{name}.input_ids"], tensors[f"{name}.token_type_ids"] = ids.int(), token_types.int()
        hidden_states = list(outputs.hidden_states)
        if is_modernbert(model):  # transformers 4 returns the last one before final_norm, transformers 5 after it
            with torch.no_grad():
                flat = ids.reshape(-1, ids.shape[-1])
                hidden_states[-1] = model.base_model(input_ids=flat, attention_mask=torch.ones_like(flat)).last_hidden_state
        for layer, hidden in enumerate(hidden_states):
            tensors[f"{name}.hidden_states.{layer}"] = (hidden if case.choices else hidden[0])
        for head, value in heads.items():
            tensors[f"{name}.{head}"] = value
    return {name: value.contiguous().clone() for name, value in tensors.items()}


def write_case(case, out_dir):
    folder = out_dir / case.name
    folder.mkdir(parents=True, exist_ok=True)
    model, extra = build(case, folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    safetensors.torch.save_file(run(case, model, extra), folder / "expected.safetensors")
    entry = {"name": case.name, "about": case.about, "model": case.model, "dtype": case.dtype,
             "head": case.extra_head or "of the class", "choices": case.choices}
    return entry if case.transformers == 4 else entry | {"transformers": transformers.__version__}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out-dir", type=Path, default=OUT_DIR)
    parser.add_argument("--only", nargs="*", help="write these cases; the others stay as they are")
    args = parser.parse_args()
    torch.set_num_threads(1)
    major = int(transformers.__version__.split(".")[0])
    cases = [case for case in all_cases() if case.transformers == major and (not args.only or case.name in args.only)]
    written = {case.name: write_case(case, args.out_dir) for case in cases}
    index_file = args.out_dir / "cases.json"
    known = json.loads(index_file.read_text())["cases"] if args.only else []
    entries = [written.pop(entry["name"], entry) for entry in known] + list(written.values())
    if entries:
        versions = {module.__name__: module.__version__ for module in (transformers, tokenizers, torch, safetensors)}
        if any(case.transformers != 4 for case in cases):
            versions = json.loads(index_file.read_text())["versions"]  # of the other cases
        index = {"made_by": "tests/reference/make_tiny_models.py", "versions": versions, "cases": entries}
        index_file.write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main()
