// Routers of sentence-transformers whose routes have encoders of their own: a folder with the modules of one route.
import { PeruseError, show } from '../../errors.js';
import { once } from '../file_bytes.js';
import { lookAt } from '../folders/look.js';
import { isObject, parseObject, textOf } from '../json.js';
import { isPlain, kModules, kRouterConfig, modulesOf, pathWithin } from '../model_files.js';
import { readSmall } from '../read_files.js';
import type { ModelFolder } from '../source.js';

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

/** Returns the modules of each route, or undefined without a Router. Throws 'not_found' or 'malformed_file' if its configuration is bad. */
async function readRoutes(folder: ModelFolder, signal: AbortSignal): Promise<Map<string, Module[]> | undefined> {
  const listed = await folder.open(kModules, signal);
  if (!listed.found) return undefined;
  const content = await readSmall(listed);
  const at = modulesOf([{ content }]).findIndex(({ type }) => type === 'Router');
  if (at < 0) return undefined;
  const list = [JSON.parse(new TextDecoder().decode(content))].flat() as Module[];
  const modules = list.map((module) => ({ ...module, path: textOf(module.path) }));
  const { path } = modules[at]!;
  const opened = await folder.open(pathWithin(path, kRouterConfig), signal);
  if (!opened.found) throw new PeruseError('not_found', `A Router needs ${kRouterConfig}: ${opened.where} (${opened.why}).`);
  const { types, structure } = parseObject(opened.where, await readSmall(opened));
  const routes = new Map<string, Module[]>();
  for (const [name, ids] of Object.entries(isObject(structure) ? structure : {})) {
    const own = [ids].flat().map((id) => ({ type: isObject(types) ? textOf(types[textOf(id)]) : '', path: pathWithin(path, textOf(id)) }));
    if (own.length === 0 || !own.every(({ type, path }) => type !== '' && isPlain(path))) break;
    routes.set(name, [...modules.slice(0, at), ...own, ...modules.slice(at + 1)]);
  }
  if (!isObject(structure) || routes.size === 0 || routes.size < Object.keys(structure).length) {
    throw new PeruseError(
      'malformed_file',
      `${opened.where} must list the modules of each route in "structure", and their classes in "types".`,
    );
  }
  return routes;
}
