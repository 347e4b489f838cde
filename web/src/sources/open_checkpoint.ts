// Opens a source as the files of a checkpoint. Static embeddings (model2vec, sentence-transformers' StaticEmbedding) and Routers are found here,
// and read by a part of the package that is loaded on demand (static_embeddings.ts, routes.ts).
import { Totals } from '../progress.js';
import type { FileAccess } from './file_access.js';
import { once } from './file_bytes.js';
import { lookAt } from './folders/look.js';
import { openFolder } from './folders/open_folder.js';
import { parseObject } from './json.js';
import { kForms, kModules, modulesOf } from './model_files.js';
import { loadOnnxPart, type OnnxPart } from './onnx_part.js';
import { type Reading, readSmall } from './read_files.js';
import type { FileFacts, MissingFile, ModelFile, ModelFolder, SourceSpec } from './source.js';

/** Opens a source, without progress reports. */
export async function openCheckpoint(source: SourceSpec, access: FileAccess, signal: AbortSignal): Promise<Reading> {
  const folder = await openFolder(source, access);
  return { name: source.name, folder, report: () => {}, signal, totals: new Totals(kForms) };
}

/** Like openCheckpoint(), but static embeddings are read as a sentence-transformers folder. `route` chooses modules of a Router. */
export async function openWithStatic(source: SourceSpec, access: FileAccess, signal: AbortSignal, route?: string): Promise<Reading> {
  const opened = await openCheckpoint(source, access, signal);
  const part = () => loadOnnxPart(access.importOnnx, source.name);
  const folder = route === undefined ? undefined : await (await part()).openRoute(opened.folder, route, signal);
  return { ...opened, folder: new StaticFolder(folder ?? opened.folder, part) };
}

const kConfig = 'config.json';
/** Files of a sentence-transformers folder, which static embeddings have in another form. */
const kOthers = /^(modules|tokenizer|sentence_bert_config|1_Pooling\/config)\.json$|^model\.safetensors$/;

/** Opens static embeddings as a sentence-transformers folder without them, and other folders as they are. */
export class StaticFolder implements ModelFolder {
  private static_: Promise<ModelFolder | undefined> | undefined;
  private readonly read_ = new Map<string, ModelFile | MissingFile>();

  constructor(
    private readonly folder_: ModelFolder,
    private readonly part_: () => Promise<OnnxPart>,
  ) {}

  async open(file: string, signal: AbortSignal, firstBytes?: number): Promise<ModelFile | MissingFile> {
    if (file !== kConfig && !kOthers.test(file)) return this.folder_.open(file, signal, firstBytes);
    this.static_ ??= this.find(signal);
    const found = await this.static_;
    if (found) return found.open(file, signal, firstBytes);
    return this.read_.get(file) ?? this.folder_.open(file, signal, firstBytes);
  }

  async look(file: string, signal: AbortSignal): Promise<FileFacts | MissingFile> {
    this.static_ ??= this.find(signal);
    return lookAt((await this.static_) ?? this.folder_, file, signal);
  }

  async openInForm(file: string, form: string, signal: AbortSignal): Promise<ModelFile | undefined> {
    return (await this.static_) ? undefined : this.folder_.openInForm?.(file, form, signal);
  }

  private async find(signal: AbortSignal): Promise<ModelFolder | undefined> {
    const config = await this.read(kConfig, signal);
    if (config) {
      const said = objectOf(config);
      return isModel2Vec(said) ? (await this.part_()).openStatic(this.folder_, { config: said }, signal) : undefined;
    }
    const content = await this.read(kModules, signal);
    const modules = content ? modulesOf([{ content }]) : [];
    const first = modules[0]?.type;
    if (first === 'StaticEmbedding') return (await this.part_()).openStatic(this.folder_, { modules }, signal);
    const routed = first === 'Router' ? await (await this.part_()).openRoute(this.folder_, undefined, signal) : undefined;
    return routed && new StaticFolder(routed, this.part_);
  }

  private async read(name: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const file = await this.folder_.open(name, signal);
    this.read_.set(name, file);
    if (!file.found) return undefined;
    const content = await readSmall(file);
    this.read_.set(name, { ...file, chunks: () => once(content), close: async () => {} });
    return content;
  }
}

/** Newer releases of model2vec write no model_type. */
function isModel2Vec({ model_type, architectures, normalize }: Record<string, unknown>): boolean {
  return model_type === 'model2vec' || (model_type === undefined && architectures === undefined && typeof normalize === 'boolean');
}

/** Parses an object. Returns an empty one if the content is no JSON object; the engine then reports the file. */
function objectOf(content: Uint8Array): Record<string, unknown> {
  try {
    return parseObject(kConfig, content);
  } catch {
    return {};
  }
}
