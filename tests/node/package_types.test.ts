// A strict project without other packages' types compiles against the package's types.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(root, 'build/package-types-'));
afterAll(() => rmSync(folder, { recursive: true }));

const kUse = `
import { pipeline, PeruseError } from 'peruse';
import { Tokenizer, type Encoding } from 'peruse/tokenizer';
const answer = await pipeline('question-answering', './model/');
const { start } = await answer('Who?', 'Anna.');
const first: number = start;
if (first > 0) throw new PeruseError('internal', 'so');
const tag = await pipeline('token-classification', './model/');
const [grouped] = await tag('Anna', { aggregation_strategy: 'simple' });
const group: string | undefined = grouped?.entity_group;
const [token] = await tag('Anna');
const label: string | undefined = token?.entity;
const tokenizer = await Tokenizer.from_pretrained('./model/');
const encoding: Encoding = tokenizer.encode('Anna', { truncation: 'longest_first' });
const count: number = tokenizer.count('Anna') + encoding.ids.length;
import { teach } from 'peruse/teach';
const taught = await teach('text-classification', './model/', [{ text: 'Good.', label: 'a' }], {
  method: { layers: 2 },
  validation: 0.2,
  progress_callback: ({ step, steps, loss, learning_rate, validation }) => void [step / steps, loss, learning_rate, validation?.f1],
});
const classify = await taught.pipeline();
const score: number | undefined = (await classify('Well.'))[0]?.score;
const best: number | null = taught.report.best_epoch;
void [label, score, best];
import { pretrain } from 'peruse/teach';
const masked = await pretrain('mlm', './model/', ['A text.'], { mask_share: 0.2, validation: ['Another.'] });
const word: string | undefined = (await (await masked.pipeline())('A [MASK].')).flat()[0]?.token_str;
const detected = await pretrain('rtd', './model/', ['A text.'], {
  generator: './generator/',
  detection_weight: 10,
  progress_callback: ({ generator_loss }) => void generator_loss?.toFixed(2),
});
const out: number | undefined = (await (await detected.pipeline())('A text.'))[0]?.score;
void [word, out];
// @ts-expect-error: it trains everything
await pretrain('mlm', './model/', ['A text.'], { method: 'lora' });
// @ts-expect-error: no such objective
await pretrain('clm', './model/', ['A text.']);
// @ts-expect-error: entities are of another task
await teach('text-classification', './model/', [{ text: 'Good.', entities: [] }]);
// @ts-expect-error: no such method
await teach('text-classification', './model/', [{ text: 'Good.', label: 'a' }], { method: 'some' });
`;

test.each([
  ['a page', ['es2022', 'dom'], 'nodenext'],
  ['a page whose bundler finds the modules', ['es2022', 'dom'], 'bundler'],
  ['a worker', ['es2022', 'webworker'], 'nodenext'],
])(
  'a strict project for %s compiles',
  (_, lib, resolution) => {
    writeFileSync(join(folder, 'use.ts'), kUse);
    const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module,
      moduleResolution: resolution,
      target: 'es2022',
      lib,
      types: [],
      skipLibCheck: false,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const run = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    expect(run.stdout).toBe('');
  },
  60_000,
);
