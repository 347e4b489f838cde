// Files that a repository lacks according to its name, for which no server is asked.

/** Whether a repository was made for transformers.js: such repositories have ONNX files and no other weights. */
export function hasOnlyOnnx(name: string): boolean {
  return /^(Xenova|onnx-community)\/|-ONNX\/?$/.test(name);
}

/** Whether a repository lacks sentence-transformers' modules.json: Xenova's were made by a tool that did not copy it. */
export function hasNoModules(name: string): boolean {
  return name.startsWith('Xenova/');
}
