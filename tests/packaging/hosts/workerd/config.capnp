# The package for places without workers, the engine as a compiled module, and a model, in one worker.
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "internet", network = (allow = ["private", "local"]))],
  sockets = [(name = "http", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "peruse", esModule = embed "peruse-service-worker.js"),
    (name = "peruse/tokenizer", esModule = embed "peruse-tokenizer.js"),
    (name = "peruse-tokenizer.wasm", wasm = embed "peruse-tokenizer.wasm"),
    (name = "peruse-simd.wasm", wasm = embed "peruse-simd.wasm"),
    (name = "config.json", data = embed "config.json"),
    (name = "tokenizer.json", data = embed "tokenizer.json"),
    (name = "model.safetensors", data = embed "model.safetensors"),
  ],
  compatibilityDate = "2025-10-01",
);
