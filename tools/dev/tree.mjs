// The tree of `npm run dev`: build/dev has the layout of the package. Its web/dist is web/src as JavaScript, updated after each edit, and the engines are
// links. So tests run on what was just written, and the loop writes nothing outside of build/.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { root } from '../setup/root.mjs';
import { glueOf, kVariants } from '../variants.mjs';

export const kTree = 'build/dev';

/** The engines that the loop builds, or that it links if web/wasm has them. */
export const kEngines = `${kTree}/web/wasm`;

const kSources = join(root, 'web/src');
const kDist = join(root, kTree, 'web/dist');

/** Workers of Node, which the package has as bundles. */
export const kWorkers = { 'node/worker.mjs': '../worker/worker_node.js', 'node/teach_worker.mjs': '../teach/teach_worker_node.js' };

export const isSource = (file) => file.startsWith(kSources) && /(?<!\.d)\.ts$/.test(file);

const outputOf = (file) => join(kDist, relative(kSources, file).replace(/ts$/, 'js'));

const kOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true };

/** Writes the JavaScript of a file of web/src, or of another text of it. Leaves out the types, which `npm run test:types` checks. */
export function compile(file, text = readFileSync(file, 'utf8')) {
  const out = outputOf(file);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, ts.transpileModule(text, { compilerOptions: kOptions, fileName: file }).outputText);
}

/** Removes the JavaScript of a file, so that the next round compiles it. */
export function forget(file) {
  rmSync(outputOf(file), { force: true });
}

function isCurrent(file) {
  const out = outputOf(file);
  return existsSync(out) && statSync(out).mtimeMs > statSync(file).mtimeMs;
}

function removeOthers(files) {
  if (!existsSync(kDist)) return;
  const known = new Set([...files.map(outputOf), ...Object.keys(kWorkers).map((name) => join(kDist, name))]);
  for (const name of readdirSync(kDist, { recursive: true })) {
    const file = join(kDist, name);
    if (/\.m?js$/.test(name) && !known.has(file)) rmSync(file);
  }
}

/** Links `path` of the tree to the file at `target`, a path from the root. */
function link(path, target) {
  const file = join(root, kTree, path);
  mkdirSync(dirname(file), { recursive: true });
  rmSync(file, { force: true });
  symlinkSync(relative(dirname(file), join(root, target)), file);
}

/** Links the engines that web/wasm has. Returns those of `variants` that are still to be built. */
export function linkEngines(variants) {
  return variants.filter((variant) => {
    const names = [`peruse-${variant}.wasm`, glueOf(variant)];
    if (names.every((name) => existsSync(join(root, 'web/wasm', name))))
      for (const name of names) link(`web/wasm/${name}`, `web/wasm/${name}`);
    return !names.every((name) => existsSync(join(root, kEngines, name)));
  });
}

/** Brings the tree up to date with web/src. */
export function writeTree() {
  const files = readdirSync(kSources, { recursive: true })
    .map((name) => join(kSources, name))
    .filter(isSource);
  removeOthers(files);
  for (const file of files) if (!isCurrent(file)) compile(file);
  for (const [name, module] of Object.entries(kWorkers)) {
    mkdirSync(dirname(join(kDist, name)), { recursive: true });
    writeFileSync(join(kDist, name), `import '${module}';\n`);
  }
  for (const name of kVariants.map((variant) => `peruse-${variant}.wasm`)) {
    if (existsSync(join(root, kEngines, name))) link(`web/bundle/${name}`, `${kEngines}/${name}`);
  }
  const bundles = join(root, 'web/bundle');
  const scripts = existsSync(bundles) ? readdirSync(bundles).filter((name) => name.endsWith('.js')) : [];
  for (const name of scripts) link(`web/bundle/${name}`, `web/bundle/${name}`);
  for (const path of ['package.json', 'CHANGELOG.md', 'README.md', 'docs', 'models']) link(path, path);
}
