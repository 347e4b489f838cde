"""Mean of the weights of several runs that continue one another.

    python average_weights.py --out OUT.pt RUN1/best.pt RUN2/best.pt ...

The model.safetensors of a saved model may stand among them.
"""

import argparse
from pathlib import Path

import torch

from schedule import load_weights, save_checkpoint


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("weights", type=Path, nargs="+")
    args = parser.parse_args()
    states = [load_weights(path) for path in args.weights]
    mean = {name: torch.stack([state[name].float() for state in states]).mean(0) for name in states[0]
            if states[0][name].is_floating_point()}
    save_checkpoint(args.out, model=states[0] | mean)


if __name__ == "__main__":
    main()
