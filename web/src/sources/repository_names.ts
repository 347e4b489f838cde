// What the name of a repository tells about its files, so that no server is asked for files which are not there.

/** Whether the repository was made for transformers.js: it has ONNX files and no other weights. */
export function hasOnlyOnnx(name: string): boolean {
  return /(^|\/)(Xenova|onnx-community)\/|-ONNX(\/|$)/.test(name);
}

/** Whether the repository lacks sentence-transformers' modules.json: the tool that made Xenova's wrote a configuration, a tokenizer and ONNX files. */
export function hasNoModules(name: string): boolean {
  return /(^|\/)Xenova\//.test(name);
}
