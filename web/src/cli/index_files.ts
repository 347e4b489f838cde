import { basename, dirname } from 'node:path';
import { notWritten, writeWhole } from '../cache/write_file_node.js';
import { SemanticIndex } from '../semantic_index.js';
import { type Command, choice, flag, needed, number, text, UsageError } from './command.js';
import { jsonLine } from './io.js';
import { kModelOptions, withModel } from './model_options.js';
import { filesOf, itemsOf } from './page_texts.js';
import { given } from './task_flags.js';

const kDefaultChunk = 200;

export const indexFiles: Command = {
  summary: 'Make a search index of files, for SemanticIndex.load()',
  usage: '<file ...> --model <model> --out search.bin',
  details:
    'Reads Markdown, HTML and text files, and lines of JSON ({ "id", "text", "metadata" }). Folders and patterns\n' +
    "(docs/**/*.md) work too. An id is a file's path. The page that searches needs the same model.",
  options: {
    model: { type: 'string', short: 'm', value: 'model', help: 'the model for feature-extraction (required)' },
    out: { type: 'string', short: 'o', value: 'file', help: 'file for the index (required)' },
    'chunk-tokens': { type: 'string', value: 'n', help: `maximum number of tokens in a chunk (${kDefaultChunk})` },
    'chunk-overlap': { type: 'string', value: 'n', help: 'number of tokens that a chunk repeats from the previous one (an eighth)' },
    int8: { type: 'boolean', help: 'store vectors as 8-bit integers: a quarter of the size' },
    pooling: { type: 'string', value: 'name', help: 'cls, mean, max or sentence: pools token vectors to one (sentence)' },
    'prompt-name': { type: 'string', value: 'name', help: "a prompt for the texts by its name in the model's files, for example passage" },
    prompt: { type: 'string', value: 'text', help: 'a text to put before each chunk' },
    dimensions: { type: 'string', value: 'n', help: 'keep the first n numbers of each vector' },
    ...kModelOptions,
  },
  async run(positionals, values, io) {
    const args = needed(positionals, ['file']);
    const [model, out] = [text(values, 'model'), text(values, 'out')];
    if (model === undefined) throw new UsageError('--model is missing: a model for feature-extraction');
    if (out === undefined || out.trim() === '') throw new UsageError('--out is missing: the file for the index');
    const files = await filesOf(args);
    await withModel('feature-extraction', model, values, io, async (embed) => {
      const index = new SemanticIndex(
        embed,
        given({
          chunk_tokens: number(values, 'chunk-tokens') ?? kDefaultChunk,
          chunk_overlap: number(values, 'chunk-overlap'),
          dimensions: number(values, 'dimensions'),
          storage: flag(values, 'int8') ? ('int8' as const) : undefined,
        }),
      );
      const how = given({
        pooling: choice(values, 'pooling', ['cls', 'mean', 'max', 'sentence']),
        prompt: text(values, 'prompt'),
        prompt_name: text(values, 'prompt-name'),
      });
      for (const [number_, file] of files.entries()) {
        if (io.errIsTty) io.err(`\r\u001b[K${number_ + 1} of ${files.length} files`);
        await index.add(await itemsOf(file), how);
      }
      if (io.errIsTty) io.err('\r\u001b[K');
      const bytes = new Uint8Array(await (await index.save()).arrayBuffer());
      await writeWhole(dirname(out), basename(out), bytes).catch((error: unknown) => {
        throw notWritten('The index', out, error);
      });
      io.out(jsonLine({ file: out, texts: index.size, bytes: bytes.length }));
    });
  },
};
