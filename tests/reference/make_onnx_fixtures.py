"""Writes tests/fixtures/onnx: some of the files of make_onnx_files.py, and what onnxruntime computes with them.

    python make_onnx_fixtures.py

expected.json holds, for each file, the logits of one text (ids below), and for each file of integers the values of some weights. Logits of
8-bit files are computed with float activations: MatMulInteger is replaced by a product with the dequantised weight, because
onnxruntime quantises activations by tensor, and Peruse by row. Weights of 4 bits are what onnxruntime's own kernels make of the unit matrix.
"""

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from make_onnx_files import TINY, inputs_of, load, variants
from onnx_floats import with_float_activations

OUT = TINY.parent / "onnx"
IDS = [2, 5, 6, 7, 8, 9, 10, 3]
CASES = {
    "bert-sequence": ["model", "opset14", "dynamo", "model_fp16", "model_quantized", "model_int8", "uint8_full", "model_q4", "q4_asymmetric",
                      "model_bnb4", "fp4", "external"],
    "deberta-v1-sequence": ["model", "quantized_unslimmed"],
    "deberta-v2-sequence": ["model", "slim", "quantized_unslimmed"],
    "distilbert-sequence": ["model_quantized"],
    "modernbert-sequence": ["model"],
    "mpnet-sequence": ["model_quantized"],
}
STEPS = ["model", "slim", "opset14", "dynamo", "fp16", "external", "quantized", "quantized_unslimmed", "int8", "uint8_full", "q4",
         "q4_asymmetric", "bnb4", "fp4"]


def logits_of(path):
    model = with_float_activations(onnx.load(str(path)))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    given = {}
    for one in session.get_inputs():
        value = {"input_ids": IDS, "attention_mask": [1] * len(IDS)}.get(one.name, [0] * len(IDS))
        given[one.name] = np.array([value], np.int64)
    return session.run(None, given)[0][0].astype(float).tolist()


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


def main():
    for name in CASES:
        shutil.rmtree(OUT / name, ignore_errors=True)
    cases = {case["name"]: case for case in json.loads((TINY / "cases.json").read_text())["cases"]}
    expected = {"ids": IDS, "files": {}}
    with tempfile.TemporaryDirectory() as temporary:
        for name, files in CASES.items():
            model = load(cases[name])
            folder = Path(temporary) / name
            folder.mkdir()
            for step, write in variants(model, inputs_of(model, 0), folder):
                if step in STEPS:
                    try:
                        write()
                    except Exception as error:
                        print(name, step, error)
            target = OUT / name
            target.mkdir(parents=True)
            for file in files:
                for part in folder.glob(f"{file}.onnx*"):
                    shutil.copyfile(part, target / part.name)
                # onnxruntime rejects some graphs that the float16 converter writes; the weights are the same.
                computed = "model" if file == "model_fp16" else file
                found = {"logits": logits_of(folder / f"{computed}.onnx")}
                if "4" in file and "opset" not in file:
                    found["weights"] = four_bit_weights(folder / f"{file}.onnx")
                expected["files"][f"{name}/{file}.onnx"] = found
                print(name, file, flush=True)
    (OUT / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
