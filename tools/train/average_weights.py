"""Mean of the weights of several runs that continue one another, or that continue one checkpoint with other seeds.

    python average_weights.py --out OUT.pt RUN1/best.pt RUN2/best.pt ...

The model.safetensors of a saved model may stand among them. The mean of whole checkpoints (all of one step) is a checkpoint, the
optimizer's moments included: two processes that train side by side are so brought together now and then (local SGD, Stich, 2019).
"""

import argparse
from pathlib import Path

import torch

from schedule import load_checkpoint, load_weights, save_checkpoint


def mean_of(states):
    """Of floating-point tensors, however deep they lie in dictionaries and lists; of anything else the first."""
    first = states[0]
    if isinstance(first, dict):
        return {key: mean_of([state[key] for state in states]) for key in first}
    if isinstance(first, list):
        return [mean_of(list(parts)) for parts in zip(*states)]
    if isinstance(first, torch.Tensor) and first.is_floating_point():
        return torch.stack([state.float() for state in states]).mean(0)
    return first


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("weights", type=Path, nargs="+")
    args = parser.parse_args()
    if all(path.name == "checkpoint.pt" for path in args.weights):
        states = [load_checkpoint(path) for path in args.weights]
        if len({state["step"] for state in states}) > 1:
            parser.error(f"these checkpoints are of different steps: {[state['step'] for state in states]}")
        save_checkpoint(args.out, **mean_of(states))
    else:
        save_checkpoint(args.out, model=mean_of([load_weights(path) for path in args.weights]))


if __name__ == "__main__":
    main()
