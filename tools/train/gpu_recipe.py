"""The reader on a GPU, from packed data to weights: one command a step, each shorter than ten minutes.

    python gpu_recipe.py pack --tokenizer-dir TOK --vectors VECTORS.npy --out-dir PACK [--data-dir DATA]
    python gpu_recipe.py pretrain --pack PACK --work-dir WORK --out-dir OUT [--minutes 8]
    python gpu_recipe.py reader --pack PACK --work-dir WORK --out-dir OUT [--steps 5000]
    python gpu_recipe.py join --parts OUT --out best.pt

`pack` runs where the data is and leaves out every test half; its folder holds some 32 MB, for machines that little can be carried
to. The other steps need PACK, this folder and the packages of requirements.txt. WORK keeps checkpoints: a step that was stopped goes on
there. OUT gets the weights in float16, in parts of at most 15 MB, which `join` puts together for export_model.py; the parts of
`pretrain` also stand for WORK where that is lost.
"""

import argparse
import lzma
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch

from schedule import load_checkpoint, save_checkpoint
from texts import DEFAULT_DATA_DIR, general_documents

HERE = Path(__file__).parent
PART_BYTES = 15_000_000
PACKED = ("qa-english/new-wiki.json.xz", "qa-english/reddit.json.xz", "qa-english/amazon-reviews.json.xz",
          "qa-english/fairytaleqa-train.json.xz", "qa-english/fairytaleqa-val.json.xz", "qamr/qamr-dev.json.gz",
          *(f"classification/{name}" for name in (
              "rt-polarity-train.tsv.gz", "pros-cons-train.tsv.gz", "movie-reviews-train.tsv.xz")),
          *(f"english-text/{name}.txt.xz" for name in ("openstax", "factbook", "us-speeches")))
CLASSICS_SHARE = 3  # one in three chapters of the classics is carried


def pack(args):
    data = args.out_dir / "data"
    for name in PACKED:
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(args.data_dir / name, data / name)
        (data / name).chmod(0o644)
    with lzma.open(data / "english-text" / "standard-ebooks.txt.xz", "wt", encoding="utf-8", preset=6) as file:
        for number, document in enumerate(general_documents(args.data_dir, "standard-ebooks")):
            if number % CLASSICS_SHARE == 0:
                file.write("\n".join(document) + "\n\n")
    shutil.copytree(args.tokenizer_dir, args.out_dir / "tok", dirs_exist_ok=True)
    np.save(args.out_dir / "vectors.npy", np.load(args.vectors).astype(np.float16))
    size = sum(path.stat().st_size for path in args.out_dir.rglob("*") if path.is_file())
    print(f"{size / 1e6:.1f} MB in {args.out_dir}")


def call(script, *arguments):
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    print(" ".join(command[1:]), flush=True)
    subprocess.run(command, check=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})


def prepare(args):
    """Token streams, then generated questions beside the pre-training: they need the processor only."""
    common = ["--data-dir", args.pack / "data", "--tokenizer-dir", args.pack / "tok"]
    if not (args.work_dir / "corpus" / "standard-ebooks.u16").exists():
        call("encode_corpus.py", *common, "--out-dir", args.work_dir / "corpus-partial")
        (args.work_dir / "corpus-partial").rename(args.work_dir / "corpus")
    questions = args.work_dir / "questions.npz"
    if questions.exists():
        return []
    return [ThreadPoolExecutor(1).submit(call, "make_questions.py", *common, "--out", questions, "--count", args.count)]


def pretrain(args):
    background = prepare(args)
    call("pretrain_rtd.py", "--tokenizer-dir", args.pack / "tok", "--corpus-dir", args.work_dir / "corpus", "--vectors",
         args.pack / "vectors.npy", "--out-dir", args.work_dir / "rtd", "--minutes", args.minutes, "--size", args.size, "--device",
         args.device, "--batch", args.batch, "--length", args.length)
    for job in background:
        job.result()
    split(load_checkpoint(args.work_dir / "rtd" / "encoder.pt")["encoder"], args.out_dir, "encoder")


def reader(args):
    for job in prepare(args):
        job.result()
    encoder = args.work_dir / "rtd" / "encoder.pt"
    if not encoder.exists():
        save_checkpoint(encoder, encoder=joined(args.out_dir, "encoder"))
    call("finetune_reader.py", "--data-dir", args.pack / "data", "--tokenizer-dir", args.pack / "tok", "--vectors",
         args.pack / "vectors.npy", "--encoder", encoder, "--questions", args.work_dir / "questions.npz", "--out-dir", args.work_dir / "reader", "--steps", args.steps, "--size", args.size, "--device",
         args.device, "--batch-tokens", args.batch * args.length // 4, "--rate", args.rate, "--dropout", 0.1, "--hidden-words", 0.03, "--renamed", 0.15, "--threads", 4,
         "--evaluate-every", max(1, args.steps // 5))
    split(load_checkpoint(args.work_dir / "reader" / "best.pt")["model"], args.out_dir, "reader")


def split(weights, folder, name):
    """Writes the weights in float16 as NAME-0.pt, NAME-1.pt, ..."""
    parts, size = [{}], 0
    for key, value in sorted(weights.items()):
        value = value.half().cpu() if value.is_floating_point() else value.cpu()
        for number, piece in enumerate(value.split(max(1, PART_BYTES // 2 // max(1, value[:1].numel() * 2)))) if value.ndim else [(0, value)]:
            if size + piece.nbytes > PART_BYTES:
                parts.append({})
                size = 0
            parts[-1][f"{key}|{number}"] = piece.clone()
            size += piece.nbytes
    for number, part in enumerate(parts):
        save_checkpoint(folder / f"{name}-{number}.pt", **part)


def joined(folder, name):
    pieces = {}
    for path in folder.glob(f"{name}-*.pt"):
        for key, piece in load_checkpoint(path).items():
            key, number = key.split("|")
            pieces.setdefault(key, {})[int(number)] = piece
    if not pieces:
        raise FileNotFoundError(f"No {name}-*.pt in {folder}.")
    found = {key: [part[number] for number in sorted(part)] for key, part in pieces.items()}
    whole = {key: torch.cat(part) if part[0].ndim else part[0] for key, part in found.items()}
    return {key: value.float() if value.is_floating_point() else value for key, value in whole.items()}


def join(args):
    save_checkpoint(args.out, model=joined(args.parts, args.name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    steps = parser.add_subparsers(required=True)
    one = steps.add_parser("pack")
    one.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    one.add_argument("--tokenizer-dir", type=Path, required=True)
    one.add_argument("--vectors", type=Path, required=True)
    one.add_argument("--out-dir", type=Path, required=True)
    one.set_defaults(run=pack)
    for name, run in (("pretrain", pretrain), ("reader", reader)):
        one = steps.add_parser(name)
        for folder in ("pack", "work-dir", "out-dir"):
            one.add_argument(f"--{folder}", type=Path, required=True)
        one.add_argument("--size", choices=["small", "large"], default="large")
        one.add_argument("--device", default="cuda")
        one.add_argument("--batch", type=int, default=256)
        one.add_argument("--length", type=int, default=256)
        one.add_argument("--count", type=int, default=300000, help="generated questions")
        one.add_argument("--minutes", type=float, default=8)
        one.add_argument("--steps", type=int, default=5000)
        one.add_argument("--rate", type=float, default=4e-4)
        one.set_defaults(run=run)
    one = steps.add_parser("join")
    one.add_argument("--parts", type=Path, required=True)
    one.add_argument("--name", default="reader")
    one.add_argument("--out", type=Path, required=True)
    one.set_defaults(run=join)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
