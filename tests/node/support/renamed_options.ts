const kRenamed: Record<string, string> = { max_seq_len: 'max_length', doc_stride: 'stride' };

/** Options of transformers' pipelines by Peruse's names. */
export function renamedOptions<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [kRenamed[name] ?? name, value])) as Options;
}
