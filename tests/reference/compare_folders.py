"""Holds Peruse to AutoTokenizer over folders of unusual but real combinations of tokenizer files.

    python compare_folders.py check --tool BUILD/encode_lines [--only NAME]     every folder of the table, every line; prints differences
    python compare_folders.py write --out tests/fixtures/tokenizer_folders      the goldens that tests/native/text/folders_test.cc runs

The table (folder_table.py) names each folder: its class, the files that are there, and their flags. Everything comes from the
small vocabularies of tests/fixtures/tokenizer, so that nothing need be downloaded. For each folder the reference says what
transformers' AutoTokenizer makes of it: the encodings of every line (alone, in pairs, truncated, in windows), what decoding gives,
the special ids and the model's limit; or that it refuses the folder. What the reference answers and we refuse is marked in the table
with the words that our message must hold.

Needs: tests/reference/requirements.txt (transformers, tokenizers, sentencepiece, protobuf).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
warnings.filterwarnings("ignore")

import transformers  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

import folder_parts  # noqa: E402
import folder_table  # noqa: E402

transformers.logging.set_verbosity_error()
FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")


def write_folder(path, files):
    os.makedirs(path)
    for name, content in files.items():
        data = content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content)).encode()
        with open(os.path.join(path, name), "wb") as file:
            file.write(data)


def has_types(tokenizer):
    """Whether anything is of type 1. Where a template gives the pair type 0, the reference still gives it type 1 in the windows that
    overflow, which no model of one type can look up; that fault is put right here, as in make_tokenizer_fixtures.py."""
    template = (json.loads(tokenizer._tokenizer.to_str())["post_processor"] or {}).get("pair", [])
    is_zero = template and all(part.get("Sequence", part.get("SpecialToken"))["type_id"] == 0 for part in template)
    return "token_type_ids" in tokenizer.model_input_names and not is_zero


def reference_windows(tokenizer, case):
    backend = tokenizer._tokenizer
    if "truncation" in case:
        backend.enable_truncation(case["max_length"], stride=case["stride"], strategy=case["truncation"],
                                  direction=tokenizer.truncation_side)
    else:
        backend.no_truncation()
    backend.no_padding()
    encoding = backend.encode(case["text"], case.get("pair"))
    typed = has_types(tokenizer)
    return [{"ids": window.ids, "types": window.type_ids if typed else [0] * len(window.ids), "words": window.word_ids, "sequences": window.sequence_ids,
             "special": window.special_tokens_mask, "offsets": [x for pair in window.offsets for x in pair]}
            for window in [encoding] + encoding.overflowing]


def reference_about(tokenizer):
    limit = tokenizer.model_max_length
    ids = {name: getattr(tokenizer, name + "_token_id") for name in ("cls", "sep", "mask", "pad", "unk")}
    return {**{name: -1 if value is None else value for name, value in ids.items()},
            "max_length": None if limit > 1e9 else limit, "tokens": max(tokenizer.get_vocab().values()) + 1,
            "special_ids": sorted({i for i, token in tokenizer.added_tokens_decoder.items() if token.special})}


def catch(action):
    """The result, or None if transformers rejects the folder. A Rust panic is not an Exception."""
    try:
        return action()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return None


class Silence:
    """Rust panics print to file descriptor 2."""

    def __enter__(self):
        self.saved = os.dup(2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    def __exit__(self, *_):
        os.dup2(self.saved, 2)


def expect(path, cases):
    """[about, answer of each case ...], or None if the folder is rejected."""
    with Silence():
        tokenizer = catch(lambda: AutoTokenizer.from_pretrained(path))
        if tokenizer is None or not tokenizer.is_fast:
            return None
        answers = [reference_about(tokenizer)]
        for case in cases:
            windows = catch(lambda: reference_windows(tokenizer, case))
            answers.append(windows)
            ids = windows[0]["ids"] if windows else []
            for skip in (True, False):
                answers.append({"decoded": tokenizer.decode(ids, skip_special_tokens=skip)})
    return answers


def engine(tool, path, files, requests):
    command = [tool] + ["%s=%s" % (name, os.path.join(path, name)) for name in files]
    done = subprocess.run(command, input="".join(json.dumps(request) + "\n" for request in requests).encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 1:
        return done.stderr.decode().strip()
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]


def requests_of(cases, expected):
    requests = [{"about": True}]
    for index, case in enumerate(cases):
        windows = expected[1 + 3 * index] if expected else None
        requests.append(case)
        for skip in (True, False):
            requests.append({"decode": windows[0]["ids"] if windows else [], "skip": skip})
    return requests


def check_folder(tool, folder, path, cases, only):
    expected = expect(path, cases)
    requests = requests_of(cases, expected)
    got = engine(tool, path, folder.files, requests)
    if folder.refused is not None or expected is None:
        words = folder.refused or ""
        if isinstance(got, str) and words in got:
            return True
        print("%s: %s, but we %s" % (folder.name, "must be refused (%s)" % words if folder.refused is not None else "the reference refuses",
                                     "say: " + got if isinstance(got, str) else "answer"))
        return False
    if isinstance(got, str):
        print("%s: we refuse it: %s" % (folder.name, got))
        return False
    agrees = True
    for request, want, answer in zip(requests, expected, got, strict=True):
        if answer == want or (want is None and "error" in answer):
            continue
        print("%s: %s\n   want %s\n   got  %s" % (folder.name, json.dumps(request, ensure_ascii=False), difference(want, answer), difference(answer, want)))
        agrees = False
        if only is None:
            break
    return agrees


def difference(value, other):
    """A value; for two lists of windows only the differences."""
    if isinstance(value, list) and isinstance(other, list) and value and other:
        return json.dumps({key: value[0][key] for key in value[0] if value[0][key] != other[0].get(key)} or value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def fnv(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return "%016x" % value


def compact_json(answer):
    """JSON as core/base/json_writer.h writes it: control characters are \\u and four digits."""
    if isinstance(answer, dict):
        text = answer["decoded"].replace("\\", "\\\\").replace('"', '\\"')
        return '{"decoded":"%s"}' % "".join("\\u%04x" % ord(c) if c < " " else c for c in text)
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=False)


def golden(folder, path, cases):
    """The files in the form that folders_test.cc expects, the ids of each line, and a digest of all answers."""
    expected = None if folder.refused is not None else expect(path, cases)
    line = {"name": folder.name, "files": folder.written}
    if expected is None:
        return {**line, "refused": folder.refused or ""}
    compact = [compact_json(answer) for answer in expected[1:]]
    return {**line, "about": expected[0], "ids": [windows[0]["ids"] if windows else None for windows in expected[1::3]],
            "digests": [fnv(compact[i] + compact[i + 1] + compact[i + 2]) if expected[1 + i] is not None else None
                        for i in range(0, len(compact), 3)]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["check", "write"])
    parser.add_argument("--tool")
    parser.add_argument("--out")
    parser.add_argument("--only")
    options = parser.parse_args()
    table = folder_table.folders(FIXTURES)
    if options.only:
        table = [folder for folder in table if options.only in folder.name]
    passed = 0
    with tempfile.TemporaryDirectory() as root:
        lines = []
        for index, folder in enumerate(table):
            path = os.path.join(root, str(index))
            write_folder(path, folder.files)
            if options.mode == "check":
                passed += check_folder(options.tool, folder, path, folder_table.cases(FIXTURES), options.only)
            else:
                lines.append(json.dumps(golden(folder, path, folder_table.short_cases()), ensure_ascii=False, separators=(",", ":")))
    if options.mode == "check":
        print("%d of %d folders agree" % (passed, len(table)))
        sys.exit(passed != len(table))
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "folders.jsonl"), "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))
    with open(os.path.join(options.out, "cases.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(folder_table.short_cases(), ensure_ascii=False) + "\n")
    with open(os.path.join(options.out, "parts.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(folder_parts.parts(FIXTURES), ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
