"""Writes small PyTorch files, and what is in them as safetensors.

    python make_pytorch_files.py

tests/fixtures/pytorch/<case>.bin is read by core/weights/pytorch; expected.safetensors and model.safetensors hold the same
tensors, contiguous, under the same names. tests/fuzz/corpus/pytorch holds what the fuzzer starts from.
"""

import io
import json
import zipfile
from collections import OrderedDict
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
FOLDER = FIXTURES / "pytorch"
SEEDS = FIXTURES.parent / "fuzz" / "corpus" / "pytorch"


def tensors():
    """Every type, and every layout of a tensor in its storage."""
    torch.manual_seed(0)
    table = torch.randn(7, 5)
    flat = torch.randn(40)  # as the weights of an LSTM on a GPU: one block, cut in slices
    result = OrderedDict()
    result["embeddings.word"] = table
    result["decoder.weight"] = table  # tied
    result["rows"] = table[2:5]
    result["row"] = table[6]
    result["columns"] = table[:, 1:4]
    result["every_second"] = table[::2, ::2]
    result["transposed"] = torch.randn(4, 3).t()
    result["permuted"] = torch.randn(2, 3, 4).permute(2, 0, 1)
    result["expanded"] = torch.randn(1, 3).expand(4, 3)
    result["one_column"] = torch.randn(6, 1).t().t()
    result["channels_last"] = torch.randn(2, 3, 2, 2).to(memory_format=torch.channels_last)
    result["half"] = torch.randn(3, 3).half()
    result["half_columns"] = torch.randn(3, 4).half()[:, 1:3]
    result["bfloat16"] = torch.randn(9).bfloat16()
    result["double"] = torch.randn(2, 2).double()
    result["scalar"] = torch.tensor(3.5)
    result["empty"] = torch.empty(0, 4)
    result["int64"] = torch.arange(5).expand(1, -1)
    result["int32"] = torch.arange(4, dtype=torch.int32)
    result["int16"] = torch.arange(3, dtype=torch.int16)
    result["int8"] = torch.arange(-3, 3, dtype=torch.int8)
    result["uint8"] = torch.arange(250, 255, dtype=torch.uint8)
    result["bool"] = torch.tensor([True, False, True])
    result["lstm.weight_ih_l0"] = flat[0:16].view(4, 4)
    result["lstm.weight_hh_l0"] = flat[16:32].view(4, 4)
    result["lstm.bias_l0"] = flat[32:36]
    result["lstm.overlap"] = flat[30:40]
    result["naïve.名前"] = torch.ones(2)
    return result


def plain(values):
    return {name: value.detach().clone().contiguous() for name, value in values.items() if isinstance(value, torch.Tensor)}


def repack(content):
    """The same records by another writer: sizes and checksums in the headers, storages in another order."""
    source = zipfile.ZipFile(io.BytesIO(content))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        first = [name for name in source.namelist() if name.endswith("/data.pkl")]
        rest = sorted((name for name in source.namelist() if name not in first and "serialization_id" not in name), reverse=True)
        for name in first + rest:
            archive.writestr(zipfile.ZipInfo(name), source.read(name))
    return target.getvalue()


def to_stream(value):
    stream = io.BytesIO()
    torch.save(value, stream)
    return stream.getvalue()


def write_tensors():
    values = tensors()
    save_file(plain(values), FOLDER / "expected.safetensors")
    torch.save(values, FOLDER / "zip.bin")
    torch.save(values, FOLDER / "legacy.bin", _use_new_zipfile_serialization=False)
    (FOLDER / "stream.bin").write_bytes(to_stream(dict(values)))
    (FOLDER / "repacked.bin").write_bytes(repack(to_stream(values)))
    beside = {"epoch": 3, "best": 0.5, "names": ["a", ("b", None, True)], "config": {"width": 2**40, -1: "x"}}
    torch.save({**beside, "state_dict": values}, FOLDER / "nested.bin")
    torch.save({**beside, **{name: torch.nn.Parameter(value) if value.is_floating_point() else value
                             for name, value in values.items()}}, FOLDER / "parameters.bin")


def write_checkpoint():
    """A tiny model in both forms, as its own class saves it: with tied weights, buffers and the versions of its modules."""
    folder = FIXTURES / "tiny" / "convbert-masked-lm"
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float16)
    torch.save(model.state_dict(), FOLDER / "convbert-masked-lm.bin")
    torch.save(model.state_dict(), FOLDER / "convbert-masked-lm-legacy.bin", _use_new_zipfile_serialization=False)


def write_shards():
    weights = {}
    source = FIXTURES / "sharded"
    index = json.loads((source / "model.safetensors.index.json").read_text())
    for shard in sorted(set(index["weight_map"].values())):
        weights[shard] = shard.replace("model-", "pytorch_model-").replace(".safetensors", ".bin")
        torch.save(load_file(source / shard), FOLDER / weights[shard])
    index["weight_map"] = {name: weights[shard] for name, shard in index["weight_map"].items()}
    (FOLDER / "pytorch_model.bin.index.json").write_text(json.dumps(index, indent=2) + "\n")


def write_seeds():
    """Where tests/fuzz/pytorch_fuzz.cc starts: whole files, and a pickle with the bytes of its storage."""
    SEEDS.mkdir(exist_ok=True)
    for name in ("stream", "legacy", "repacked"):
        (SEEDS / name).write_bytes(b"\0\0" + (FOLDER / f"{name}.bin").read_bytes())
    table = torch.arange(6.0).view(2, 3)
    archive = zipfile.ZipFile(io.BytesIO(to_stream(OrderedDict(a=table, b=table.t(), c=table[1], d=3))))
    content = archive.read("archive/data.pkl") + archive.read("archive/data/0")
    (SEEDS / "pickle").write_bytes(b"\1\0" + content)
    (SEEDS / "pickle_in_bytes").write_bytes(b"\1\1" + content)


def main():
    FOLDER.mkdir(exist_ok=True)
    write_tensors()
    write_checkpoint()
    write_shards()
    write_seeds()


if __name__ == "__main__":
    main()
