// peruse/orama: a plugin for Orama that embeds documents when they are inserted, and the terms of vector and hybrid searches.
import { type EmbeddingSettings, embedder, type Loading } from './embedder.js';

/** Settings of peruseEmbeddings(). */
export interface OramaSettings extends EmbeddingSettings {
  /** Names of the string properties to embed; they are joined by line ends. */
  from: readonly string[];
  /** The property for the vector, which the schema declares, for example `embedding: 'vector[384]'`. Default 'embedding'. */
  to?: string;
}

type Document = Record<string, unknown>;

/** The parameters of a search that the plugin reads and completes. */
interface SearchParameters {
  mode?: string;
  term?: string;
  vector?: { property?: string; value?: unknown };
}

/** A plugin of Orama. */
export interface OramaEmbeddings {
  name: string;
  beforeInsert(database: unknown, id: string, document: Document): Promise<void>;
  beforeInsertMultiple(database: unknown, documents: Document[]): Promise<void>;
  beforeSearch(database: unknown, parameters: SearchParameters): Promise<void>;
}

/** Creates a plugin from `pipeline('feature-extraction', ...)`. */
export function peruseEmbeddings(
  pipeline: Loading<'feature-extraction'>,
  { from, to = 'embedding', ...settings }: OramaSettings,
): OramaEmbeddings {
  const embed = embedder(pipeline, settings);
  const isEmbedded = new WeakSet<Document>(); // by beforeInsertMultiple
  const put = async (documents: Document[]) => {
    const texts = documents.map((document) => from.flatMap((name) => valueAt(document, name) ?? []).join('\n'));
    const vectors = await embed.documents(texts);
    documents.forEach((document, index) => {
      document[to] = vectors[index];
    });
  };
  return {
    name: 'peruse-embeddings',
    async beforeInsert(_, _id, document) {
      if (!isEmbedded.delete(document)) await put([document]);
    },
    async beforeInsertMultiple(_, documents) {
      await put(documents);
      for (const document of documents) isEmbedded.add(document);
    },
    async beforeSearch(_, parameters) {
      const { mode, term, vector } = parameters;
      if ((mode !== 'vector' && mode !== 'hybrid') || vector?.value !== undefined || term === undefined) return;
      const isEmpty = term.trim() === '';
      const [value] = await embed.queries([isEmpty ? '.' : term]);
      // Nothing is near to a vector of zeros: a cleared search field finds what full-text search finds.
      parameters.vector = { property: to, ...vector, value: isEmpty ? value!.map(() => 0) : value };
    },
  };
}

function valueAt(document: Document, path: string): string | undefined {
  let value: unknown = document;
  for (const name of path.split('.')) value = (value as Document | undefined)?.[name];
  return typeof value === 'string' ? value : undefined;
}
