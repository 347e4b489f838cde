"""ONNX files as Hugging Face's tools make them: optimum's exporters, sentence-transformers' pooling in the graph, and optimum's O2, O3 and O4."""

import contextlib
import io
import shutil
import tempfile
import warnings
from pathlib import Path

from onnxruntime.transformers import optimizer
from optimum.exporters.onnx import main_export
from optimum.onnxruntime import AutoOptimizationConfig
from optimum.onnxruntime.utils import ORTConfigManager
from sentence_transformers import SentenceTransformer, models
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers import models as tokenizer_models
from transformers import PreTrainedTokenizerFast

TASKS = {
    "SequenceClassification": "text-classification",
    "TokenClassification": "token-classification",
    "QuestionAnswering": "question-answering",
    "MaskedLM": "fill-mask",
    "MultipleChoice": "multiple-choice",
    "Model": "feature-extraction",
}


def task_of(class_name):
    return next(task for ending, task in TASKS.items() if class_name.endswith(ending))


@contextlib.contextmanager
def with_tokenizer(source, size):
    """A copy of a tiny checkpoint, with the tokenizer that the tests use: "t5" has id 5."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(source, folder, dirs_exist_ok=True)
        tokenizer = Tokenizer(tokenizer_models.WordPiece({f"t{index}": index for index in range(size)}, unk_token="t0"))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="t0", pad_token="t0").save_pretrained(folder)
        yield folder


def _export(source, target, **options):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        main_export(str(source), folder, do_validation=False, no_post_process=True, **options)
        shutil.copyfile(Path(folder) / "model.onnx", target)


def export_by_optimum(source, size, class_name, target):
    """What `optimum-cli export onnx` and sentence-transformers' backend="onnx" write."""
    with with_tokenizer(source, size) as folder:
        _export(folder, target, task=task_of(class_name), library_name="transformers")


def export_sentences(source, size, target, mode):
    """A sentence-transformers folder, exported with its pooling and its dense layer."""
    with with_tokenizer(source, size) as plain, tempfile.TemporaryDirectory() as folder:
        encoder = models.Transformer(plain)
        width = encoder.get_word_embedding_dimension()
        modules = [encoder, models.Pooling(width, pooling_mode=mode)]
        if mode == "cls":
            modules.append(models.Dense(width, 2 * width))
        SentenceTransformer(modules=modules, device="cpu").save(folder)
        _export(folder, target, task="sentence-similarity", library_name="sentence_transformers")


def optimise_as_optimum(source, target, config, level):
    """What sentence-transformers' export_optimized_onnx_model writes for "O2", "O3" and "O4". Without a GPU, O4 is O3 in float16."""
    settings = AutoOptimizationConfig.with_optimization_level("O3" if level == "O4" else level)
    kind = ORTConfigManager._conf.get(config.model_type.replace("_", "-"), "bert")
    found = optimizer.optimize_model(
        str(source), kind, getattr(config, "num_attention_heads", 0), getattr(config, "hidden_size", 0),
        opt_level=settings.optimization_level, optimization_options=settings.create_fusion_options(kind), use_gpu=False)
    if level == "O4":
        found.convert_float_to_float16(keep_io_types=True, use_symbolic_shape_infer=False)
    found.save_model_to_file(str(target))
