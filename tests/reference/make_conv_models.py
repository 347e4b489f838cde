"""Writes tiny lightweight- and dynamic-convolution checkpoints and what a plain PyTorch reading of the paper computes.

    python make_conv_models.py [--out-dir DIR]

No library has these encoders; the modules below follow Wu et al. (2019) and fairseq's sequence-first layout (head of
channel c: c // (channels / heads)), with loops over taps instead of unfolding tricks. The layout of the checkpoints is
described in core/families/lightconv.cc, that of the output in tests/fixtures/tiny/README.md.
"""

import argparse
import hashlib
import json
from pathlib import Path

import safetensors.torch
import torch
from torch import nn
from torch.nn import functional

OUT_DIR = Path(__file__).resolve().parents[1] / "fixtures" / "conv"
SCALE = 0.2

BASE = {"vocab_size": 48, "hidden_size": 32, "embedding_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 48, "hidden_act": "gelu", "max_position_embeddings": 64, "type_vocab_size": 2,
        "layer_norm_eps": 1e-12, "conv_kernel_size": 7, "num_labels": 3}
CASES = [
    ("lightconv-sequence", "lightweight convolution, kernel 7", "lightconv", {}),
    ("lightconv-widths", "lightweight convolution, kernels 3 and 15, no projection, two heads", "lightconv",
     {"conv_kernel_size": [3, 15], "embedding_size": 32, "num_attention_heads": 2}),
    ("dynamicconv-sequence", "dynamic convolution, kernel 7", "dynamicconv", {}),
    ("dynamicconv-widths", "dynamic convolution, kernels 31 and 1, eight heads, relu", "dynamicconv",
     {"conv_kernel_size": [31, 1], "num_attention_heads": 8, "hidden_act": "relu"}),
]
CLASSES = {"lightconv": "LightConvForSequenceClassification", "dynamicconv": "DynamicConvForSequenceClassification"}


def convolve(values, kernels):
    """values [T, C], kernels [T, H, K] -> [T, C]: sums over neighbours; zero outside."""
    length, channels = values.shape
    heads, width = kernels.shape[1:]
    result = torch.zeros_like(values)
    for t in range(length):
        for j in range(width):
            source = t + j - (width - 1) // 2
            if 0 <= source < length:
                result[t] += kernels[t, :, j].repeat_interleave(channels // heads) * values[source]
    return result


class Convolution(nn.Module):
    def __init__(self, config, width, dynamic):
        super().__init__()
        hidden, self.heads = config["hidden_size"], config["num_attention_heads"]
        self.in_proj = nn.Linear(hidden, 2 * hidden)
        if dynamic:
            self.kernel = nn.Linear(hidden, self.heads * width)
        else:
            self.weight = nn.Parameter(torch.zeros(self.heads, width))
        self.out_proj = nn.Linear(hidden, hidden)
        self.LayerNorm = nn.LayerNorm(hidden, eps=config["layer_norm_eps"])

    def forward(self, x):
        gated = functional.glu(self.in_proj(x), dim=-1)
        if hasattr(self, "kernel"):
            logits = self.kernel(gated).view(len(x), self.heads, -1)
        else:
            logits = self.weight.expand(len(x), -1, -1)
        return self.LayerNorm(self.out_proj(convolve(gated, logits.softmax(-1))) + x)


class Dense(nn.Module):

    def __init__(self, inputs, outputs, eps=None):
        super().__init__()
        self.dense = nn.Linear(inputs, outputs)
        if eps is not None:
            self.LayerNorm = nn.LayerNorm(outputs, eps=eps)


class Layer(nn.Module):
    def __init__(self, config, width, dynamic):
        super().__init__()
        self.act = getattr(functional, config["hidden_act"])
        self.conv = Convolution(config, width, dynamic)
        self.intermediate = Dense(config["hidden_size"], config["intermediate_size"])
        self.output = Dense(config["intermediate_size"], config["hidden_size"], config["layer_norm_eps"])

    def forward(self, x):
        x = self.conv(x)
        return self.output.LayerNorm(self.output.dense(self.act(self.intermediate.dense(x))) + x)


class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config["embedding_size"]
        self.word_embeddings = nn.Embedding(config["vocab_size"], width)
        self.position_embeddings = nn.Embedding(config["max_position_embeddings"], width)
        self.token_type_embeddings = nn.Embedding(config["type_vocab_size"], width)
        self.LayerNorm = nn.LayerNorm(width, eps=config["layer_norm_eps"])

    def forward(self, ids, types):
        positions = torch.arange(len(ids))
        return self.LayerNorm(self.word_embeddings(ids) + self.position_embeddings(positions)
                              + self.token_type_embeddings(types))


class Encoder(nn.Module):
    def __init__(self, config, dynamic):
        super().__init__()
        self.embeddings = Embeddings(config)
        if config["embedding_size"] != config["hidden_size"]:
            self.embeddings_project = nn.Linear(config["embedding_size"], config["hidden_size"])
        widths = config["conv_kernel_size"]
        widths = widths if isinstance(widths, list) else [widths] * config["num_hidden_layers"]
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList(Layer(config, width, dynamic) for width in widths)

    def forward(self, ids, types):
        x = self.embeddings(ids, types)
        if hasattr(self, "embeddings_project"):
            x = self.embeddings_project(x)
        states = [x]
        for layer in self.encoder.layer:
            states.append(layer(states[-1]))
        return states


class Classifier(nn.Module):

    def __init__(self, config):
        super().__init__()
        self.act = getattr(functional, config["hidden_act"])
        self.dense = nn.Linear(config["hidden_size"], config["hidden_size"])
        self.out_proj = nn.Linear(config["hidden_size"], config["num_labels"])

    def forward(self, hidden):
        return self.out_proj(self.act(self.dense(hidden[0])))


def generator_of(name):
    return torch.Generator().manual_seed(int(hashlib.sha256(name.encode()).hexdigest()[:8], 16))


def write_case(name, about, model_type, changes, out_dir):
    config = BASE | changes
    model = nn.Module()
    setattr(model, model_type, Encoder(config, model_type == "dynamicconv"))
    model.classifier = Classifier(config)
    generator = generator_of(name)
    with torch.no_grad():
        for key, parameter in sorted(model.named_parameters()):
            parameter.copy_((torch.randn(parameter.shape, generator=generator) * SCALE
                             + key.endswith("LayerNorm.weight")).half())
    folder = out_dir / name
    folder.mkdir(parents=True, exist_ok=True)
    config = {"architectures": [CLASSES[model_type]], "model_type": model_type} | config
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    safetensors.torch.save_file({k: v.half() for k, v in model.state_dict().items()}, folder / "model.safetensors")

    tensors = {}
    for text, length in zip("abcd", (1, 2, 11, 34)):
        ids = torch.randint(0, config["vocab_size"], (length,), generator=generator)
        types = torch.randint(0, config["type_vocab_size"], (length,), generator=generator)
        with torch.no_grad():
            states = getattr(model, model_type)(ids, types)
            tensors[f"{text}.logits"] = model.classifier(states[-1])
        tensors[f"{text}.input_ids"], tensors[f"{text}.token_type_ids"] = ids.int(), types.int()
        tensors |= {f"{text}.hidden_states.{layer}": state for layer, state in enumerate(states)}
    safetensors.torch.save_file(tensors, folder / "expected.safetensors")
    return {"name": name, "about": about, "model": CLASSES[model_type], "dtype": "float16", "head": "of the class",
            "choices": 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out-dir", type=Path, default=OUT_DIR)
    out_dir = parser.parse_args().out_dir
    torch.set_num_threads(1)
    entries = [write_case(*case, out_dir) for case in CASES]
    index = {"made_by": "tests/reference/make_conv_models.py", "versions": {"torch": torch.__version__}, "cases": entries}
    (out_dir / "cases.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main()
