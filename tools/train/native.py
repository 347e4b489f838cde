"""Compiles the C files beside this one once and loads them."""

import ctypes
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

FLAGS = ["-O3", "-ffast-math", "-march=native", "-shared", "-fPIC"]


def load(name):
    source = Path(__file__).with_name(name)
    key = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    folder = Path(os.environ.get("PERUSE_TRAIN_CACHE", Path.home() / ".cache" / "peruse-train")) / "native"
    library = folder / f"{source.stem}-{key}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as build:
            made = Path(build) / "made.so"
            subprocess.run(["gcc", *FLAGS, str(source), "-o", str(made), "-lm"], check=True)
            os.replace(made, library)
    return ctypes.CDLL(str(library))


def pointer(array):
    """Address of a contiguous numpy array or tensor."""
    return ctypes.c_void_p(array.ctypes.data if hasattr(array, "ctypes") else array.data_ptr())


def number(value):
    return ctypes.c_float(value)
