"""Converts a checkpoint by transformers.js's own scripts: exported by optimum, simplified by onnxslim, quantised to 8 bits.

    python run_peer_scripts.py <checkout of transformers.js> <folder of the checkpoint> <folder for the result> <optimum's task>

The checkout is commit 3c64b726, the last one that has scripts/convert.py; the Python has the packages of its scripts/requirements.txt.
"""

import functools
import hashlib
import os
import runpy
import sys
import tempfile
from pathlib import Path

import torch

SHA256 = {
    "convert.py": "e8312efd4be2f4d05a1de386e4229f0a0cd967e9f6dffc6e4049e9563bcda813",
    "quantize.py": "d376b1ca38f40b839ef0976378770fed1e08c5f344b43bc2a59e21159ce56a71",
}


def main():
    checkout, source, target = (Path(one).resolve() for one in sys.argv[1:4])
    for name, digest in SHA256.items():
        if hashlib.sha256((checkout / "scripts" / name).read_bytes()).hexdigest() != digest:
            sys.exit(f"{name} is not the one of commit 3c64b726")
    # The scripts are older than torch's newer exporter, which later became the default.
    torch.onnx.export = functools.partial(torch.onnx.export, dynamo=False)
    sys.path.insert(0, str(checkout))
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)
        os.symlink(source, "model")
        sys.argv = ["convert", "--model_id", "model", "--task", sys.argv[4], "--output_parent_dir", "out", "--quantize", "--modes", "q8",
                    "--skip_validation"]
        runpy.run_module("scripts.convert", run_name="__main__")
        (target / "onnx").mkdir(parents=True, exist_ok=True)
        Path("out/model/onnx/model_quantized.onnx").rename(target / "onnx/model_quantized.onnx")


if __name__ == "__main__":
    main()
