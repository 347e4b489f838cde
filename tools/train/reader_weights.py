"""A saved reader with the mean of the weights in files that distil_reader.py wrote.

    python reader_weights.py --weights MODEL_DIR --out-dir OUT student.safetensors teacher.safetensors ...

MODEL_DIR is the reader that the training began with: OUT gets its configuration and its tokenizer.
"""

import argparse
from pathlib import Path

from safetensors.torch import load_file

from export_model import load
from shared.training import save_model


def mean(files):
    states = [load_file(path) for path in files]
    return {name: sum(state[name].float() for state in states) / len(states) for name in states[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("files", type=Path, nargs="+")
    args = parser.parse_args()
    model = load(args.weights)
    model.load_state_dict(mean(args.files))
    save_model(model, args.weights, args.out_dir)


if __name__ == "__main__":
    main()
