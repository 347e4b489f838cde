"""Converts a checkpoint folder to LiteRT's .tflite files: f32, and Google's usual dynamic int8 (weights of 8 bits, activations quantised in each call).

  python export_litert.py <folder with config.json and model.safetensors> <task> <tokens>...

For each number of tokens (LiteRT's shapes are fixed) writes <task>_<tokens>.tflite and <task>_<tokens>_q8.tflite beside them. Inputs: ids and mask,
int32 [1, tokens]; output: logits as in export_onnx.py.
"""

import json
import sys
from pathlib import Path

import litert_torch
import torch
from ai_edge_quantizer import quantizer, recipe
from logits import CLASSES, Logits


class IntegerLogits(Logits):
    """The same with inputs of 32 bits, as LiteRT has them."""

    def forward(self, ids, mask):
        return super().forward(ids.long(), mask.long())


def export(folder: Path, task: str, lengths: list[int]) -> None:
    model = IntegerLogits(CLASSES[task].from_pretrained(folder, attn_implementation="eager")).eval()
    for tokens in lengths:
        ids = torch.arange(5, 5 + tokens, dtype=torch.int32)[None]
        full = folder / f"{task}_{tokens}.tflite"
        litert_torch.convert(model, (ids, torch.ones_like(ids))).export(str(full))
        work = quantizer.Quantizer(str(full), recipe.dynamic_wi8_afp32())
        work.quantize().export_model(str(folder / f"{task}_{tokens}_q8.tflite"), overwrite=True)


if __name__ == "__main__":
    export(Path(sys.argv[1]), sys.argv[2], [int(tokens) for tokens in sys.argv[3:]])
