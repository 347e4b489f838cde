// Routers of sentence-transformers whose routes have encoders of their own: a folder with the modules of one route.
import { PeruseError, show } from '../errors.js';
import { once } from './file_bytes.js';
import { isObject, parseObject, textOf } from './json.js';
import { lookAt } from './look.js';
import { kModules, kRouterConfig, pathWithin } from './model_files.js';
import { readSmall } from './read_files.js';
import type { ModelFolder } from './source.js';

interface Module {
  type: string;
  path: string;
}

const kStatic = /\.StaticEmbedding$/;
const kTable = /\.SparseStaticEmbedding$/;

/**
 * Opens the modules of a Router's route as a folder without a Router. Without `route`, returns undefined if the engine can choose the route of
 * each text, because the routes share an encoder. Throws 'invalid_argument' for an unknown route, 'unsupported' if one must be chosen.
 */
export async function openRoute(folder: ModelFolder, route: string | undefined, signal: AbortSignal): Promise<ModelFolder | undefined> {
  const routes = await readRoutes(folder, signal);
  if (route !== undefined && !routes?.has(route)) {
    const known = routes ? `the model's routes are ${[...routes.keys()].join(', ')}` : 'the model has no Router';
    throw new PeruseError('invalid_argument', `Option route is ${show(route)}, and ${known}.`);
  }
  if (routes === undefined) return undefined;
  const lists = [...routes.values()];
  const chosen = route === undefined ? lists[0]! : routes.get(route)!;
  if (route !== undefined || (kStatic.test(chosen[0]!.type) && lists.every((list) => areEqual(list, chosen)))) {
    return withModules(folder, chosen);
  }
  const encoders = new Set(
    lists
      .map(([first]) => first!)
      .filter(({ type }) => !kTable.test(type))
      .map(({ path }) => path),
  );
  if (encoders.size < 2 && !kStatic.test(chosen[0]!.type)) return undefined;
  const named = [...routes.keys()].map((name) => show(name)).join(' or ');
  throw new PeruseError('unsupported', `${kRouterConfig}: each route has an encoder of its own. Pass the load option route: ${named}.`);
}

function areEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function withModules(folder: ModelFolder, modules: readonly Module[]): ModelFolder {
  const content = new TextEncoder().encode(JSON.stringify(modules));
  const size = content.length;
  return {
    async open(file, signal, firstBytes) {
      if (file !== kModules) return folder.open(file, signal, firstBytes);
      return { found: true, where: kModules, size, version: undefined, chunks: () => once(content), close: async () => {} };
    },
    look: (file, signal) => lookAt(folder, file, signal),
    openInForm: async (file, form, signal) => folder.openInForm?.(file, form, signal),
  };
}

/** Returns the modules of each route; undefined without a Router, or if the engine will reject the files. */
async function readRoutes(folder: ModelFolder, signal: AbortSignal): Promise<Map<string, Module[]> | undefined> {
  const listed: unknown = await readJson(folder, kModules, signal);
  if (!Array.isArray(listed)) return undefined;
  const modules = listed.map((module) => ({ ...module, type: textOf(module?.type), path: textOf(module?.path) }) as Module);
  const at = modules.findIndex(({ type }) => type.endsWith('.Router'));
  if (at < 0) return undefined;
  const { path } = modules[at]!;
  const config = await readJson(folder, pathWithin(path, kRouterConfig), signal);
  const { types, structure } = isObject(config) ? config : {};
  if (!isObject(types) || !isObject(structure)) return undefined;
  const routes = new Map<string, Module[]>();
  for (const [name, ids] of Object.entries(structure)) {
    const own = [ids].flat().map((id) => ({ type: textOf(types[textOf(id)]), path: pathWithin(path, textOf(id)) }));
    routes.set(name, [...modules.slice(0, at), ...own, ...modules.slice(at + 1)]);
  }
  return [...routes.values()].every((list) => list.length > 0) ? routes : undefined;
}

async function readJson(folder: ModelFolder, name: string, signal: AbortSignal): Promise<unknown> {
  const file = await folder.open(name, signal);
  if (!file.found) return undefined;
  const content = await readSmall(file);
  try {
    return name === kModules ? JSON.parse(new TextDecoder().decode(content)) : parseObject(file.where, content);
  } catch {
    return undefined; // the engine reports the invalid file
  }
}
