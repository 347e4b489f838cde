"""Exports a checkpoint folder to ONNX as the hub's ONNX files are made: f32, and onnxruntime's dynamic int8.

  python export_onnx.py <folder with config.json and model.safetensors> <task> [--half]

Writes <task>.onnx and <task>_q8.onnx beside them; with --half <task>_f16.onnx and model_f16.safetensors too. Inputs: input_ids, attention_mask [batch, tokens]; output: logits,
[batch, labels] for text-classification, [batch, tokens, 2] (start, end) for question-answering.
"""

import sys
from pathlib import Path

import onnx
import torch
from logits import CLASSES, Logits
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.float16 import convert_float_to_float16
from safetensors.torch import load_file, save_file


def export(folder: Path, task: str, half: bool) -> None:
    model = CLASSES[task].from_pretrained(folder, attn_implementation="eager").eval()
    ids = torch.randint(5, model.config.vocab_size, (2, 24))
    mask = torch.ones_like(ids)
    mask[1, 20:] = 0
    axes = {0: "batch", 1: "tokens"}
    outputs = axes if task == "question-answering" else {0: "batch"}
    full = folder / f"{task}.onnx.partial"
    with torch.no_grad():
        torch.onnx.export(
            Logits(model), (ids, mask), str(full), input_names=["input_ids", "attention_mask"], output_names=["logits"],
            dynamic_axes={"input_ids": axes, "attention_mask": axes, "logits": outputs}, opset_version=17,
            do_constant_folding=True, dynamo=False)
    onnx.checker.check_model(str(full))
    quantised = folder / f"{task}_q8.onnx.partial"
    # As transformers.js quantises for the hub: signed weights, but unsigned in models that have convolutions.
    convolves = any(node.op_type == "Conv" for node in onnx.load(str(full), load_external_data=False).graph.node)
    quantize_dynamic(str(full), str(quantised), weight_type=QuantType.QUInt8 if convolves else QuantType.QInt8)
    if half:
        onnx.save(convert_float_to_float16(onnx.load(str(full)), keep_io_types=True), str(folder / f"{task}_f16.onnx"))
        tensors = load_file(folder / "model.safetensors")
        save_file({name: tensor.half() for name, tensor in tensors.items()}, folder / "model_f16.safetensors")
    full.rename(folder / f"{task}.onnx")
    quantised.rename(folder / f"{task}_q8.onnx")


if __name__ == "__main__":
    export(Path(sys.argv[1]), sys.argv[2], half="--half" in sys.argv[3:])
