"""Peruse's tokenizer natively against the Rust library behind Hugging Face `tokenizers`, both on one thread, in turns.

    python native.py ENCODE_BENCH TOKENIZER_JSON TEXT [ROUNDS]

Prints one JSON object with the medians. The Rust library encodes a list of lines in one call (encode_batch without its thread
pool), so that Python's own cost is small. Processor time. Needs: tokenizers==0.22.2
"""
import json
import os
import statistics
import subprocess
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import tokenizers  # noqa: E402 (reads the environment)

VERSION = "0.22.2"


def timed(call):
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def main():
    assert tokenizers.__version__ == VERSION, "needs tokenizers==" + VERSION
    program, path, text = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    lines = open(text, encoding="utf-8", newline="\n").read().split("\n")
    if lines[-1] == "":
        lines.pop()
    times = {name: {"load": [], "lines": []} for name in ("peruse", "rust")}
    tokens = {}
    for _ in range(rounds):
        ours = json.loads(subprocess.run([program, path, text], check=True, stdout=subprocess.PIPE).stdout)
        rust, load = timed(lambda: tokenizers.Tokenizer.from_file(path))
        rust.no_truncation()
        rust.no_padding()
        rust.encode_batch(lines[:len(lines) // 20])
        encodings, seconds = timed(lambda: rust.encode_batch(lines))
        for name, entry in (("peruse", ours), ("rust", {"load": load, "lines": seconds})):
            for key in ("load", "lines"):
                times[name][key].append(entry[key])
        tokens = {"peruse": ours["tokens"], "rust": sum(len(encoding.ids) for encoding in encodings)}
    assert tokens["peruse"] == tokens["rust"], tokens
    print(json.dumps({name: {key: statistics.median(values) for key, values in entry.items()} for name, entry in times.items()}))


main()
