"""Exports tiny checkpoints to ONNX, as users' tools do it: torch's two exporters, onnxslim, and onnxruntime's quantisers and optimiser.

    python make_onnx_files.py --out-dir DIR [--only NAME ...] [--variants NAME ...]

Each folder of DIR is a case of tests/fixtures/tiny, with a file for each variant. expected.json has what onnxruntime computes with each file for
IDS, as in tests/fixtures/onnx. To compare Peruse with it: PERUSE_ONNX_FILES=DIR npx vitest run --project node tests/node/onnx_files.test.ts
Requirements: requirements-onnx.txt.
"""

import argparse
import json
import logging
import warnings
from pathlib import Path

import onnx
import onnxruntime
import onnxslim
import torch
import hub_encoders
import jina_bert
import transformers
from onnx_exporters import export_by_optimum, export_sentences, optimise_as_optimum
from onnx_floats import results_of
from onnxruntime.quantization import QuantFormat, QuantType, matmul_bnb4_quantizer, matmul_nbits_quantizer, quantize_dynamic
from safetensors.torch import load_file

TINY = Path(__file__).resolve().parents[1] / "fixtures" / "tiny"
OPSET = 18
IDS = [2, 5, 6, 7, 8, 9, 10, 3]
TYPES = {"albert", "bert", "camembert", "convbert", "deberta", "deberta-v2", "distilbert", "electra", "gte", "modernbert", "mpnet",
         "new", "nomic_bert", "roberta", "xlm-roberta"}


def inputs_of(model, choices):
    shape = (1, 2, 9) if choices else (2, 9)
    ids = torch.randint(5, model.config.vocab_size, shape, generator=torch.Generator().manual_seed(1))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if getattr(model.config, "type_vocab_size", 0) > 0 and model.config.model_type not in ("mpnet", "distilbert"):
        inputs["token_type_ids"] = torch.zeros_like(ids)
    return inputs


def is_known(case):
    """Whether this file has the class: of transformers, or of an author's code. A factor that depends on the text's length is in no exported graph."""
    name = case["model"]
    return hasattr(transformers, name) or name.startswith(("JinaBert", "NomicBert", "Gte")) and not case["name"].endswith("-dynamic")


def load(case):
    folder = TINY / case["name"]
    if case["model"].startswith(("NomicBert", "Gte")):
        return hub_encoders.load(folder, case["model"])
    if case["model"].startswith("JinaBert"):
        return getattr(jina_bert, case["model"]).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    model_class = getattr(transformers, case["model"])
    return model_class.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()


def is_read_otherwise(model, case):
    """Whether a later version of transformers made the case's goldens, and this version ignores keys of config.json that change the encoder."""
    if "transformers" not in case or type(model).__name__.startswith(("NomicBert", "Gte")):  # hub_encoders has compared these
        return False
    golden = load_file(TINY / case["name"] / "expected.safetensors")
    inputs = {name: golden[f"c.{name}"][None].long() for name in inputs_of(model, case["choices"]) if name != "attention_mask"}
    with torch.no_grad():
        states = model(**inputs, output_hidden_states=True).hidden_states
    layers = range(1, len(states) - 1)  # the last one may be before or after a final norm
    return not all(torch.allclose(states[layer][0], golden[f"c.hidden_states.{layer}"], atol=1e-3) for layer in layers)


def export(model, inputs, path, dynamo=False, opset=OPSET):
    names = list(inputs)
    model.config.return_dict = False
    args = {"input_names": names, "opset_version": opset, "do_constant_folding": True}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        axes = {name: {index: f"{name}_{index}" for index in range(value.dim())} for name, value in inputs.items()}
        if dynamo:
            shapes = {name: {index: torch.export.Dim.DYNAMIC for index in range(value.dim())} for name, value in inputs.items()}
            torch.onnx.export(model, (), str(path), kwargs=inputs, dynamo=True, external_data=False, dynamic_shapes=shapes, **args)
        else:
            torch.onnx.export(model, ({**inputs},), str(path), dynamo=False, dynamic_axes=axes, output_names=["logits"], **args)


def slim(source, target):
    model = onnxslim.slim(str(source))
    onnx.save(model, str(target))


logging.getLogger("onnxruntime.quantization").setLevel(logging.WARNING)


def has_conv(path):
    return any(node.op_type == "Conv" for node in onnx.load(str(path)).graph.node)


def quantize8(source, target, weight_type, per_channel=True, reduce_range=True):
    quantize_dynamic(str(source), str(target), weight_type=weight_type, per_channel=per_channel, reduce_range=reduce_range,
                     extra_options={"EnableSubgraph": True, "MatMulConstBOnly": True, "DefaultTensorType": onnx.TensorProto.FLOAT})


def quantize4(source, target, block=32, symmetric=True, bits=4, **options):
    quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(onnx.load(str(source)), block_size=block, is_symmetric=symmetric, bits=bits, **options)
    quantizer.process()
    onnx.save(quantizer.model.model, str(target))


def quantize_bnb4(source, target, kind=1):
    quantizer = matmul_bnb4_quantizer.MatMulBnb4Quantizer(onnx.load(str(source)), quant_type=kind, block_size=64)
    quantizer.process()
    onnx.save(quantizer.model.model, str(target))


def to_half(source, target):
    from onnxconverter_common import float16
    onnx.save(float16.convert_float_to_float16(onnx.load(str(source)), keep_io_types=True, disable_shape_infer=True), str(target))


def optimise(source, target, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = str(target)
    onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


def external(source, target):
    onnx.save_model(onnx.load(str(source)), str(target), save_as_external_data=True, location=target.name + "_data", size_threshold=256)


def optimised_variants(model, folder):
    """What optimum writes, and what its optimiser and then the quantisers make of it."""
    source, plain = Path(model.config.name_or_path), folder / "optimum.onnx"
    size = model.config.vocab_size
    is_optimums = hasattr(transformers, type(model).__name__)  # optimum would make another model of an author's class
    if is_optimums:
        yield "optimum", lambda: export_by_optimum(source, size, type(model).__name__, plain)
    else:
        plain = folder / "model.onnx"
    embeds = is_optimums and type(model).__name__.endswith("Model")
    if embeds:
        for mode in ("mean", "cls"):
            yield f"sentence_{mode}", lambda mode=mode: export_sentences(source, size, folder / f"sentence_{mode}.onnx", mode)
    for level in ("O2", "O3", "O4"):
        yield level, lambda level=level: optimise_as_optimum(plain, folder / f"model_{level}.onnx", model.config, level)
    names = [*(["optimum"] if is_optimums else []), "model_O2", "model_O3", *(["sentence_mean"] if embeds else [])]
    for file in (folder / f"{name}.onnx" for name in names):
        name = file.stem.removeprefix("model_")
        yield f"{name}_quantized", lambda file=file: quantize8(file, file.with_stem(f"{file.stem}_quantized"), QuantType.QInt8)
        yield f"{name}_q4", lambda file=file: quantize4(file, file.with_stem(f"{file.stem}_q4"))
        yield f"{name}_q4f16", lambda file=file: to_half(file.with_stem(f"{file.stem}_q4"), file.with_stem(f"{file.stem}_q4f16"))
        yield f"{name}_bnb4", lambda file=file: quantize_bnb4(file, file.with_stem(f"{file.stem}_bnb4"))


def variants(model, inputs, folder):
    plain = folder / "model.onnx"
    slimmed = folder / "slim.onnx"
    yield "model", lambda: export(model, inputs, plain)
    yield "slim", lambda: slim(plain, slimmed)
    yield "opset14", lambda: export(model, inputs, folder / "opset14.onnx", opset=14)
    yield "dynamo", lambda: export(model, inputs, folder / "dynamo.onnx", dynamo=True)
    yield "dynamo_slim", lambda: slim(folder / "dynamo.onnx", folder / "dynamo_slim.onnx")
    yield "fp16", lambda: to_half(slimmed, folder / "model_fp16.onnx")
    yield "external", lambda: external(slimmed, folder / "external.onnx")
    unsigned = lambda: QuantType.QUInt8 if has_conv(plain) else QuantType.QInt8
    yield "quantized", lambda: quantize8(slimmed, folder / "model_quantized.onnx", unsigned())
    yield "quantized_unslimmed", lambda: quantize8(plain, folder / "quantized_unslimmed.onnx", unsigned())
    yield "int8", lambda: quantize8(slimmed, folder / "model_int8.onnx", QuantType.QInt8)
    yield "uint8", lambda: quantize8(slimmed, folder / "model_uint8.onnx", QuantType.QUInt8)
    yield "uint8_full", lambda: quantize8(slimmed, folder / "uint8_full.onnx", QuantType.QUInt8, False, False)
    yield "q4", lambda: quantize4(slimmed, folder / "model_q4.onnx")
    yield "q4f16", lambda: to_half(folder / "model_q4.onnx", folder / "model_q4f16.onnx")
    yield "q4_qdq", lambda: quantize4(slimmed, folder / "q4_qdq.onnx", quant_format=QuantFormat.QDQ)
    yield "q4_gather", lambda: quantize4(slimmed, folder / "q4_gather.onnx", op_types_to_quantize=("MatMul", "Gather"))
    yield "q8_blocks", lambda: quantize4(slimmed, folder / "q8_blocks.onnx", bits=8)
    yield "q4_asymmetric", lambda: quantize4(slimmed, folder / "q4_asymmetric.onnx", 16, False)
    yield "bnb4", lambda: quantize_bnb4(slimmed, folder / "model_bnb4.onnx")
    yield "fp4", lambda: quantize_bnb4(slimmed, folder / "fp4.onnx", 0)
    for level in ("BASIC", "EXTENDED", "ALL"):
        name = f"optimised_{level.lower()}"
        yield name, lambda level=level, name=name: optimise(plain, folder / f"{name}.onnx", getattr(onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{level}"))
    yield "dynamo_fp16", lambda: to_half(folder / "dynamo_slim.onnx", folder / "dynamo_fp16.onnx")
    yield "dynamo_quantized", lambda: quantize8(folder / "dynamo_slim.onnx", folder / "dynamo_quantized.onnx", unsigned())
    yield "opset11", lambda: export(model, inputs, folder / "opset11.onnx", opset=11)
    yield "opset11_quantized", lambda: quantize8(folder / "opset11.onnx", folder / "opset11_quantized.onnx", QuantType.QInt8)
    yield "opset14_quantized", lambda: quantize8(folder / "opset14.onnx", folder / "opset14_quantized.onnx", QuantType.QInt8, False, False)
    yield from optimised_variants(model, folder)


def computed(path):
    """The file that onnxruntime runs for `path`: it rejects some graphs that the float16 converter writes, whose weights are the same."""
    others = {"model_fp16.onnx": "slim.onnx", "dynamo_fp16.onnx": "dynamo_slim.onnx", "model_O4.onnx": "model_O3.onnx"}
    return path.with_name(others.get(path.name, path.name.replace("_q4f16", "_q4")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out-dir", type=Path, required=True)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--variants", nargs="*")
    options = parser.parse_args()
    expected = {"ids": IDS, "files": {}}
    for case in json.loads((TINY / "cases.json").read_text())["cases"]:
        if options.only and case["name"] not in options.only:
            continue
        if not is_known(case) or case["head"] != "of the class":
            continue
        model = load(case)
        if model.config.model_type not in TYPES:
            continue
        if is_read_otherwise(model, case):
            print(f"{case['name']}: transformers {transformers.__version__} reads config.json in another way than {case['transformers']}", flush=True)
            continue
        inputs = inputs_of(model, case["choices"])
        folder = options.out_dir / case["name"]
        folder.mkdir(parents=True, exist_ok=True)
        for name, write in variants(model, inputs, folder):
            if options.variants and name not in options.variants:
                continue
            before = set(folder.iterdir())
            try:
                write()
                for path in set(folder.glob("*.onnx")) - before:
                    expected["files"][f"{case['name']}/{path.name}"] = {"logits": results_of(computed(path), IDS, case["choices"] > 0)}
            except Exception as error:  # An exporter's own limits: said, and the others go on.
                print(f"{case['name']} {name}: {type(error).__name__}: {str(error)[:150]}", flush=True)
        (options.out_dir / "expected.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main()
