"""Writes tests/fixtures/onnx: some of the files of make_onnx_files.py, and what onnxruntime computes with them.

    python make_onnx_fixtures.py [case ...]

Without names, all cases are written. expected.json holds, for each file, the outputs for one text (IDS), and for each file of integers the values of
some weights. Outputs of 8-bit files are computed with float activations (onnx_floats.py), because onnxruntime quantises activations by tensor, and
Peruse by row. Weights of 4 bits are what onnxruntime's own kernels make of the unit matrix.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper

from make_onnx_files import IDS, TINY, computed, inputs_of, load, variants
from onnx_floats import results_of

OUT = TINY.parent / "onnx"
CASES = {
    "albert-sequence": ["model", "model_quantized"],
    "albert-masked-lm": ["model_O2"],
    "bert-sequence": ["model", "opset14", "dynamo", "model_fp16", "model_quantized", "model_int8", "uint8_full", "model_q4", "q4_asymmetric",
                      "model_bnb4", "fp4", "external"],
    "deberta-v1-sequence": ["model", "quantized_unslimmed"],
    "deberta-v2-sequence": ["model", "slim", "quantized_unslimmed"],
    "distilbert-sequence": ["model_quantized"],
    "modernbert-sequence": ["model"],
    "mpnet-sequence": ["model_quantized"],
    # Each family, head, exporter and type at least once, together with the files above.
    "bert-choice": ["model_bnb4"],
    "bert-masked-lm-untied": ["model_int8"],
    "camembert-masked-lm": ["model_fp16"],
    "convbert-bare": ["model"],
    "convbert-token": ["model_uint8", "optimised_all", "dynamo_slim"],
    "deberta-v1-token": ["model_q4"],
    "deberta-v2-conv": ["model_quantized"],
    "deberta-v2-masked-lm-untied": ["model_q4f16"],
    "deberta-v2-own-keys": ["slim"],
    "deberta-v2-p2c": ["model_fp16"],
    "deberta-v2-question": ["optimised_extended"],
    "distilbert-question": ["optimised_all"],
    "electra-question": ["opset14_quantized"],
    "modernbert-masked-lm": ["dynamo"],
    "modernbert-token": ["model_q4f16"],
    "mpnet-choice": ["q4_gather"],
    "roberta-masked-lm-untied": ["q4_qdq"],
    "roberta-choice": ["dynamo_quantized"],
    "xlm-roberta-token": ["model_quantized", "model_O2_q4"],
    "xlm-roberta-question": ["q8_blocks"],
    # Classes of authors' code (hub_encoders.py, jina_bert.py).
    "nomic-bert-sequence": ["model", "dynamo", "model_fp16", "model_quantized"],
    "nomic-bert-masked-lm": ["quantized_unslimmed"],
    "gte-sequence": ["model", "dynamo", "model_quantized"],
    "gte-token": ["optimised_all"],
    "gte-masked-lm": ["model_fp16"],
    "gte-published-split": ["model_q4"],
    "jina-bert-sequence": ["model", "dynamo", "model_quantized"],
    "jina-bert-masked-lm": ["model_O2_quantized"],
    "jina-bert-normed": ["slim"],
    "jina-bert-normed-question": ["model_q4f16"],
    # The tied matrix twice: two integer types, and 4 bits next to floats.
    "bert-masked-lm": ["model_quantized", "q4_gather", "dynamo_slim", "model_O4"],
    # Files of optimum and sentence-transformers, their optimised ones, and an old opset.
    "deberta-v2-bare": ["sentence_cls"],
    "distilbert-token": ["optimum_q4f16"],
    "modernbert-bare": ["sentence_mean_quantized"],
    "electra-sequence": ["model_O3_bnb4"],
    "electra-token": ["opset11_quantized"],
}


def four_bit_weights(path):
    """The matrix of each node, by module: the node applied to the unit matrix."""
    graph = onnx.load(str(path)).graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    weights = {}
    for node in graph.node:
        if node.op_type not in ("MatMulNBits", "MatMulBnb4") or "layer.0" not in node.name:
            continue
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        size = attributes["K"]
        own = [constants[name] for name in node.input[1:]]
        copy = helper.make_node(node.op_type, ["x", *node.input[1:]], ["y"], domain="com.microsoft", **attributes)
        made = helper.make_graph([copy], "one", [helper.make_tensor_value_info("x", 1, [size, size])],
                                 [helper.make_tensor_value_info("y", 1, [size, attributes["N"]])], own)
        model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)], ir_version=9)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        value = session.run(None, {"x": np.eye(size, dtype=np.float32)})[0].T
        weights[".".join(node.name.strip("/").split("/")[:-1]) + ".weight"] = [float(x) for x in value.ravel()[:64]]
    return weights


def steps_for(files):
    """The variants to write: those of the files, and those that they are made of."""
    steps = {"model", "slim"}
    for file in files:
        parts = file.removeprefix("model_").split("_")
        steps |= {"_".join(parts[:count]) for count in range(1, len(parts) + 1)}
        if parts[0] in ("O2", "O3", "O4"):
            steps |= {"optimum", "O3"}
        if parts[0] == "dynamo":
            steps.add("dynamo_slim")
        if parts[-1] == "q4f16":
            steps.add("_".join([*parts[:-1], "q4"]))
    return steps


def main():
    chosen = sys.argv[1:] or list(CASES)
    cases = {case["name"]: case for case in json.loads((TINY / "cases.json").read_text())["cases"]}
    written = OUT / "expected.json"
    expected = json.loads(written.read_text()) if sys.argv[1:] else {"ids": IDS, "files": {}}
    with tempfile.TemporaryDirectory() as temporary:
        for name in chosen:
            shutil.rmtree(OUT / name, ignore_errors=True)
            model = load(cases[name])
            folder = Path(temporary) / name
            folder.mkdir()
            steps = steps_for(CASES[name])
            for step, write in variants(model, inputs_of(model, cases[name]["choices"]), folder):
                if step in steps:
                    write()
            target = OUT / name
            target.mkdir(parents=True)
            for file in CASES[name]:
                for part in folder.glob(f"{file}.onnx*"):
                    shutil.copyfile(part, target / part.name)
                found = {"logits": results_of(computed(folder / f"{file}.onnx"), IDS, cases[name]["choices"] > 0)}
                if name == "bert-sequence" and "4" in file and "opset" not in file:
                    found["weights"] = four_bit_weights(folder / f"{file}.onnx")
                expected["files"][f"{name}/{file}.onnx"] = found
                print(name, file, flush=True)
            written.write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
