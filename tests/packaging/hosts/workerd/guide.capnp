# The worker of docs/guides/cloudflare-workers.md, with its static assets in a folder.
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "assets", disk = "assets")],
  sockets = [(name = "http", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [
    (name = "guide.js", esModule = embed "guide.js"),
    (name = "peruse", esModule = embed "peruse-service-worker.js"),
    (name = "peruse/peruse-simd.wasm", wasm = embed "peruse-simd.wasm"),
  ],
  bindings = [(name = "ASSETS", service = "assets")],
  compatibilityDate = "2025-10-01",
);
