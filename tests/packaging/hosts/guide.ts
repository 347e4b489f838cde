// Programs of docs/guides, with the package of the tarball and a host's own packages.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { pipelineModel } from '../../node/support/pipeline_models.js';
import { kEnvironment, kNode, runProgram, type Stage, stage } from './stage.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kGuide = ['with-other-libraries', 'redact-before-a-model', 'react']
  .map((name) => readFileSync(join(kRoot, `docs/guides/${name}.md`), 'utf8'))
  .join('\n');

const kLocal: Record<string, string> = {
  'sentence-transformers/all-MiniLM-L6-v2': './models/sentences',
  'cross-encoder/ms-marco-MiniLM-L6-v2': './models/ranker',
  'vector[384]': 'vector[192]',
  'vector(384)': 'vector(192)',
};

export function guideCode(name: string): { code: string; output: string } {
  const [, code, output = ''] = new RegExp(`\`\`\`jsx? ${name}\n([^]*?)\`\`\`\n(?:\n\`\`\`\n([^]*?)\`\`\`)?`).exec(kGuide)!;
  let local = code!;
  for (const [from, to] of Object.entries(kLocal)) local = local.replaceAll(from, to);
  return { code: local, output };
}

export async function stageWithModels(name: string, version: string): Promise<Stage> {
  const app = await stage(name, { version });
  await cp(join(kRoot, 'models/peruse-zero-shot-deberta-tiny'), join(app.folder, 'models/sentences'), { recursive: true });
  await mkdir(join(app.folder, 'models/ranker'));
  for (const [file, content] of Object.entries(await pipelineModel('convbert', 'one-logit'))) {
    await writeFile(join(app.folder, 'models/ranker', file), content);
  }
  return app;
}

/** Puts the package peruse-transformers in the place of @huggingface/transformers, as a dependency or an override of that name does. */
export async function useAlias({ folder }: Stage): Promise<void> {
  const { buildAliasPackage } = (await import(new URL('../../../tools/alias_package.mjs', import.meta.url).href)) as {
    buildAliasPackage(folder: string): string;
  };
  buildAliasPackage(join(folder, 'node_modules/@huggingface/transformers'));
}

/** Runs a program of the guide, after `adapt` for an older version, and expects the output that the guide prints. */
export async function expectGuide(app: Stage, name: string, adapt = (code: string) => code): Promise<void> {
  const { code, output } = guideCode(name);
  expect(output).not.toBe('');
  expect(await runModule(app, `${name}.mjs`, adapt(code))).toBe(output);
}

export async function runModule(app: Stage, name: string, code: string): Promise<string> {
  await writeFile(join(app.folder, name), code);
  const { stdout } = await promisify(execFile)(kNode, [name], { cwd: app.folder, env: kEnvironment });
  return stdout;
}

export async function expectTypes(app: Stage, name: string, code: string): Promise<void> {
  await writeFile(join(app.folder, name), code);
  const flags =
    '--noEmit --strict --target es2022 --module nodenext --moduleResolution nodenext --skipLibCheck --types node --jsx react-jsx';
  const types = ['--typeRoots', join(kRoot, 'node_modules/@types')];
  const tsc = join(kRoot, 'node_modules/typescript/bin/tsc');
  const found = await runProgram(app.folder, kNode, [tsc, ...flags.split(' '), ...types, name]).catch(
    ({ stdout, message }: { stdout: string; message: string }) => stdout || message,
  );
  expect(found).toBe('');
}
