"""Compares Peruse's tokenizers with Hugging Face `tokenizers`, and writes the sample that the native tests run.

    python make_tokenizer_fixtures.py check --data DATA --tool BUILD/encode_lines     every line; prints differences
    python make_tokenizer_fixtures.py write --data DATA --out tests/fixtures/tokenizer
    python make_tokenizer_fixtures.py parts --out tests/fixtures/tokenizer            the rarer parts (tokenizer_parts.py)
    python make_tokenizer_fixtures.py files --data DATA --out FOLDER --only bert_uncased,deberta_v1,deberta_v3    for the benchmark

DATA holds `tokenizers/` (vocabularies of published checkpoints) and text in many languages (`unicode/`, `xquad/`,
`classification/`, ...); encode_lines is built from tests/tools/encode_lines.cc. The sample uses vocabularies cut down to a
few thousand entries, so that it stays small; the check uses the complete ones.

Needs: tests/reference/requirements.txt, sentencepiece and protobuf.
"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

import tokenizers

from tokenizer_lines import SPECIALS, all_lines, botchan_lines, every_code_point_lines, make_cases, random_lines, unicode_lines
from tokenizer_parts import all_parts
from tokenizer_setups import Workshop, added_token_rules, bert_from_vocab, deberta_v1, deberta_v2, read_sentencepiece
from trained_tokenizers import gemma, japanese, llama3, o200k, qwen

VERSION = "0.22.2"


def reference_encoding(tokenizer, case, pair_type=1):
    """The reference's windows, or None where it refuses.

    One fault of the reference is put right: it applies the type ids of a template to the main encoding only, so a template
    that gives the pair type 0 (T5; no BERT or DeBERTa) still gets type 1 in the windows that overflow.
    """
    if "truncation" in case:
        tokenizer.enable_truncation(case["max_length"], stride=case["stride"], strategy=case["truncation"])
    else:
        tokenizer.no_truncation()
    is_words = "words" in case
    try:
        encoding = tokenizer.encode(case["words"] if is_words else case["text"], case.get("pair"), is_pretokenized=is_words,
                                    add_special_tokens=case.get("special", True))
    except BaseException as error:  # a Rust panic is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        return None
    if pair_type == 0:
        types = lambda window: [0] * len(window.ids)
    else:
        types = lambda window: window.type_ids
    return [{"ids": window.ids, "types": types(window), "words": window.word_ids, "sequences": window.sequence_ids,
             "special": window.special_tokens_mask,
             "offsets": [x for pair in window.offsets for x in pair]}
            for window in [encoding] + encoding.overflowing]


def compare(setup, files, cases, expected, tool, folder, report):
    path = os.path.join(folder, "cases.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        for case in cases:
            file.write(json.dumps(case) + "\n")
    command = [tool] + ["%s=%s" % item for item in files.items()]
    output = subprocess.run(command, stdin=open(path, "rb"), stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")
    lines = output.split("\n")
    assert len(lines) == len(cases) + 1, (len(lines), len(cases))
    differences = 0
    for case, want, line in zip(cases, expected, lines):
        got = json.loads(line)
        if want is None and isinstance(got, dict):
            report["refused by both"] += 1
        elif got != want:
            differences += 1
            if differences <= 5:
                explain(setup, case, want, got)
    return differences


def explain(setup, case, want, got):
    print("  DIFFERENT:", json.dumps(case)[:600])
    if want is None or isinstance(got, dict) or len(want) != len(got):
        print("    want", None if want is None else len(want), "windows, got", got if isinstance(got, dict) else len(got))
        return
    for index, (a, b) in enumerate(zip(want, got)):
        for key in a:
            if a[key] != b[key]:
                at = next((i for i, (x, y) in enumerate(zip(a[key], b[key])) if x != y), min(len(a[key]), len(b[key])))
                print("    window %d %s[%d]: want %s got %s" % (index, key, at, a[key][max(0, at - 2):at + 6], b[key][max(0, at - 2):at + 6]))


def compare_decoding(setup, files, expected, tool, folder):
    chosen = [window["ids"] for windows in expected[::7] if windows for window in windows[:1]]
    cases = [{"decode": ids, "skip": skip} for ids in chosen for skip in (False, True)]
    want = [setup.tokenizer.decode(ids, skip_special_tokens=skip) for ids in chosen for skip in (False, True)]
    path = os.path.join(folder, "cases.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(case) + "\n" for case in cases)
    command = [tool] + ["%s=%s" % item for item in files.items()]
    output = subprocess.run(command, stdin=open(path, "rb"), stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")
    got = [json.loads(line)["decoded"] for line in output.split("\n") if line]
    wrong = [(case, a, b) for case, a, b in zip(cases, want, got) if a != b]
    for case, a, b in wrong[:5]:
        print("  DECODED DIFFERENTLY:", case, repr(a[:200]), repr(b[:200]))
    return len(cases), len(wrong)


def check(args):
    lines = [line[:4000] for line in all_lines(args.data)]
    print("%d lines" % len(lines))
    total = differences = 0
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(args.data, folder)
        for index, maker in enumerate(workshop.setups()):
            if args.only and maker.__name__ not in args.only.split(","):
                continue
            setup = maker()
            # The three tokenizers that matter most see every line, the others every fifth.
            chosen = lines[args.skip::max(1, args.every)] if index < 3 else lines[(index + args.skip) % 5::5 * max(1, args.every)]
            report = collections.Counter()
            counts = [0] * len(setup.file_sets)
            decoded = wrong = 0
            for start in range(0, len(chosen), 20000):
                cases = list(make_cases(chosen[start:start + 20000], seed=index * 1000 + start, varied=0.25))
                expected = [reference_encoding(setup.tokenizer, case, setup.pair_type) for case in cases]
                for i, files in enumerate(setup.file_sets):
                    counts[i] += compare(setup, files, cases, expected, args.tool, folder, report)
                if start == 0:
                    decoded, wrong = compare_decoding(setup, setup.file_sets[0], expected, args.tool, folder)
            total += len(chosen)
            differences += sum(counts) + wrong
            print("%-24s %7d lines, differences by file set: %s; %d decoded, %d differ; %s" %
                  (setup.name, len(chosen), counts, decoded, wrong, dict(report)), flush=True)
    print("%d encodings compared, %d differences" % (total, differences))
    return 1 if differences else 0


def cut_wordpiece(vocab, lines, size):
    """The special tokens, single characters, and the most useful of the rest for `lines`."""
    full = bert_from_vocab(vocab, True)
    counts = collections.Counter(token for line in lines for token in full.encode(line, add_special_tokens=False).tokens)
    kept = SPECIALS + [token for token, _ in counts.most_common() if token in vocab and token not in SPECIALS][:size]
    kept += [token for token in list("abcdefghijklmnopqrstuvwxyz") + ["##" + c for c in "abcdefghijklmnopqrstuvwxyz"] if token not in kept]
    return {token: index for index, token in enumerate(kept)}


def cut_unigram(model, lines, size):
    full = deberta_v2(model)
    counts = collections.Counter(token for line in lines for token in full.encode(line, add_special_tokens=False).tokens)
    useful = {token for token, _ in counts.most_common(size)}
    pieces = [piece for index, piece in enumerate(model.pieces) if index < 270 or piece.piece in useful]
    del model.pieces[:]
    cut = [type(piece)() for piece in pieces]
    for new, old in zip(cut, pieces):
        new.CopyFrom(old)
    model.pieces.extend(cut)
    return model


def cut_bpe(vocab, merges, count):
    kept = merges[:count]
    alphabet = sorted({c for token in vocab for c in token if len(c) == 1 and c in vocab}, key=lambda c: vocab[c])
    tokens = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"] + alphabet + [a + b for a, b in kept]
    tokens = list(dict.fromkeys(tokens)) + ["[MASK]"]
    return {token: index for index, token in enumerate(tokens)}, kept


def write(args):
    rng = random.Random(7)
    # Only text in the public domain or under the Unicode licence is committed.
    lines = [line for line in list(unicode_lines(args.data)) + list(botchan_lines(args.data)) if len(line) <= 120]
    sample = rng.sample(lines, 700) + rng.sample(list(every_code_point_lines()), 60) + list(random_lines(250, 99)) + [""]
    workshop = Workshop(args.data, args.out)
    os.makedirs(args.out, exist_ok=True)

    def emit(name, tokenizer, chosen, files, pair_type=1):
        if args.only and name not in args.only.split(","):
            return
        for file_name, content in files.items():
            mode = "wb" if isinstance(content, bytes) else "w"
            with open(os.path.join(args.out, name + "." + file_name), mode, **({} if mode == "wb" else {"encoding": "utf-8"})) as file:
                file.write(content)
        with open(os.path.join(args.out, name + ".cases.jsonl"), "w", encoding="utf-8") as file:
            for case in make_cases(chosen, seed=5, varied=0.4):
                want = reference_encoding(tokenizer, case, pair_type)
                if want is not None:
                    ids = [i for i in want[0]["ids"]]
                    entry = {"case": case, "windows": want, "decoded": tokenizer.decode(ids, skip_special_tokens=True)}
                    line = json.dumps(entry, ensure_ascii=True, separators=(",", ":")) + "\n"
                    if len(line) <= 4000:  # many windows make long lines; the check sees them all
                        file.write(line)

    emit_trained(args, sample, emit)
    if args.only and not set(args.only.split(",")) & {"bert", "added", "bpe", "unigram"}:
        return 0  # the trained ones need no sentencepiece
    vocab = cut_wordpiece(workshop.vocab_txt("bert-base-uncased", "vocab.txt"), sample, 2500)
    # The goldens decode as `tokenizers` does. BertTokenizer alone would clean up spaces after it.
    emit("bert", bert_from_vocab(vocab, True), sample, {"vocab.txt": "".join(token + "\n" for token in vocab),
                                                        "tokenizer_config.json": json.dumps({"clean_up_tokenization_spaces": False}) + "\n"})
    tokenizer = added_token_rules(vocab)
    emit("added", tokenizer, sample[::4], {"tokenizer.json": tokenizer.to_str()})
    vocab, merges = cut_bpe(*workshop.byte_level_files("deberta-v1"), 1500)
    emit("bpe", deberta_v1(vocab, merges), sample[::2],
         {"vocab.json": json.dumps(vocab, ensure_ascii=False), "merges.txt": "#version: 0.2\n" + "".join("%s %s\n" % pair for pair in merges)})
    model = cut_unigram(read_sentencepiece(workshop.path("deberta-v3", "spm.model")), sample, 2500)
    emit("unigram", deberta_v2(model), sample, {"spm.model": model.SerializeToString()})
    return 0


def emit_trained(args, sample, emit):
    """Tokenizers that are trained here, on the lines that may be committed."""
    lines = [line for line in list(unicode_lines(args.data)) + list(botchan_lines(args.data)) if line][::4]
    for name, tokenizer in (("gemma", gemma(lines, 1500)), ("japanese", japanese(lines, 1500, own_stages=False))):
        emit(name, tokenizer, sample[::3], {"tokenizer.json": tokenizer.to_str()}, pair_type=0)
    words = ["don't I'LL WE'VE 12345 67 8", "snake_case camelCase HTTPServer unexpectedness Wahrscheinlichkeit", "a\n\n b \r\n\tc  ", "e\u0301 \u212b 1\u00b2\u00b3\u0664\u0665",
             "<|im_start|>user\n<think>\n\n</think>\n", "\u01c5ungla \u4e2d\u6587 \u0e20\u0e32\u0e29\u0e32"]
    for name, make in (("qwen", qwen), ("llama3", llama3), ("o200k", o200k)):
        tokenizer = make(lines, 1500)
        # o200k has no template, which alone gives the second text the type 0.
        emit(name, tokenizer, words + sample[::4], {"tokenizer.json": tokenizer.to_str()}, pair_type=1 if name == "o200k" else 0)


def parts(args):
    """parts.jsonl: a tokenizer on each line, with its cases in the form of the other files, and ids to decode."""
    with open(os.path.join(args.out, "parts.jsonl"), "w", encoding="utf-8") as file:
        for part in all_parts():
            tokenizer = tokenizers.Tokenizer.from_str(json.dumps(part.tokenizer_json))
            cases = []
            for case in part.cases:
                want = reference_encoding(tokenizer, case)
                assert want is not None, (part.name, case)
                if part.sequences_of is not None:
                    right = reference_encoding(tokenizers.Tokenizer.from_str(json.dumps(part.sequences_of)), case)
                    for window, other in zip(want, right):
                        window["sequences"] = other["sequences"]
                cases.append({"case": case, "windows": want, "decoded": tokenizer.decode(want[0]["ids"], skip_special_tokens=True)})
            decoded = [{"ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=True)} for ids in part.ids]
            line = {"name": part.name, "tokenizer": part.tokenizer_json, "cases": cases, "decodings": decoded}
            file.write(json.dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n")
    return 0


def files(args):
    """FOLDER/<name>/tokenizer.json of the chosen setups (tests/bench/tokenizer)."""
    os.makedirs(args.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(args.data, folder)
        for maker in workshop.setups():
            if args.only and maker.__name__ not in args.only.split(","):
                continue
            setup = maker()
            os.makedirs(os.path.join(args.out, setup.name), exist_ok=True)
            setup.tokenizer.no_truncation()
            setup.tokenizer.no_padding()
            setup.tokenizer.save(os.path.join(args.out, setup.name, "tokenizer.json"))
    return 0


def main():
    assert tokenizers.__version__ == VERSION, "needs tokenizers==" + VERSION
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["check", "write", "parts", "files"])
    parser.add_argument("--data", help="all but parts: the folder DATA")
    parser.add_argument("--tool", help="check: the encode_lines program")
    parser.add_argument("--only", help="names of setups, or of what to write, separated by commas")
    parser.add_argument("--every", type=int, default=1, help="check: take every n-th line only")
    parser.add_argument("--skip", type=int, default=0, help="check: start at this line")
    parser.add_argument("--out", help="write, parts, files: the folder")
    args = parser.parse_args()
    if args.mode != "parts" and args.data is None:
        parser.error("--data is needed")
    sys.exit({"check": check, "write": write, "parts": parts, "files": files}[args.mode](args))


main()
