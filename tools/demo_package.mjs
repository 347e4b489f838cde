#!/usr/bin/env node
// Makes the npm package peruse-demo in build/demo-package: q8 or q4 copies of the models in models/. Requires the built package peruse.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';

export const demoPackageFolder = join(root, 'build/demo-package');

const kModels = join(root, 'models');
const kCopied = ['README.md', 'LICENSE'];
/** Omitted, because tokenizer.json contains the same. */
const kDropped = ['vocab.txt'];

/** Models with token embeddings of 4 bits; docs/internals/precision.md says what these cost. The others are q8. */
const kInFourBits = ['peruse-multilingual-tagger-convbert-tiny', 'peruse-reader-deberta-tiny', 'peruse-zero-shot-deberta-tiny'];

export function demoModels() {
  return readdirSync(kModels).filter((name) => existsSync(join(kModels, name, 'config.json')));
}

function newestSource() {
  const files = demoModels().flatMap((name) => readdirSync(join(kModels, name)).map((file) => join(kModels, name, file)));
  const ours = ['tools/demo_package.mjs', 'tools/demo_package.md', 'package.json', 'web/dist/quantize/quantize.js'];
  return Math.max(...[...files, ...ours.map((file) => join(root, file))].map((file) => statSync(file).mtimeMs));
}

function isUpToDate() {
  const list = join(demoPackageFolder, 'package.json');
  return existsSync(list) && statSync(list).mtimeMs > newestSource();
}

export async function buildDemoPackage() {
  if (isUpToDate()) return demoPackageFolder;
  const made = `${demoPackageFolder}.${process.pid}`; // another process may make it at the same time
  try {
    await writeDemoPackage(made);
    if (isUpToDate()) return demoPackageFolder;
    rmSync(demoPackageFolder, { recursive: true, force: true });
    renameSync(made, demoPackageFolder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return demoPackageFolder;
}

async function writeDemoPackage(folder) {
  const { quantizeCheckpoint } = await import('../web/dist/quantize/quantize.js');
  for (const name of demoModels()) {
    const copy = join(folder, 'models', name);
    mkdirSync(copy, { recursive: true });
    await quantizeCheckpoint(join(kModels, name), copy, { dtype: kInFourBits.includes(name) ? 'q4' : 'q8' });
    for (const file of kDropped) rmSync(join(copy, file), { force: true });
    for (const file of readdirSync(copy).filter((each) => each.endsWith('.json'))) {
      writeFileSync(join(copy, file), JSON.stringify(JSON.parse(readFileSync(join(copy, file), 'utf8'))));
    }
    for (const file of kCopied) cpSync(join(kModels, name, file), join(copy, file));
  }
  copyFileSync(join(root, 'tools/demo_package.md'), join(folder, 'README.md'));
  copyFileSync(join(kModels, demoModels()[0], 'LICENSE'), join(folder, 'LICENSE'));
  const { version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const description = 'The small models of the Peruse demo page, with weights of 8 bits or fewer';
  const about = { name: 'peruse-demo', version, description, license: 'CC-BY-4.0', repository, type: 'module', files: ['models'] };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(about, null, 2)}\n`);
}

await runAsProgram(import.meta.url, async () => console.log(await buildDemoPackage()));
