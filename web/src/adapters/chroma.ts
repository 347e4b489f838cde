// peruse/chroma: an embedding function for Chroma's client (the package chromadb).
import { type Embed, type EmbeddingSettings, embedder, type Loading } from './embedder.js';

/**
 * An embedding function from `pipeline('feature-extraction', ...)`. Chroma's server does not store which model it uses: pass it to
 * getCollection() too.
 */
export class PeruseEmbeddingFunction {
  readonly name = 'peruse';
  private readonly embed_: { documents: Embed; queries: Embed };

  constructor(pipeline: Loading<'feature-extraction'>, settings: EmbeddingSettings = {}) {
    this.embed_ = embedder(pipeline, settings);
  }

  /** Embeds documents. */
  generate(texts: string[]): Promise<number[][]> {
    return this.embed_.documents(texts);
  }

  /** Embeds queries. Clients before version 3 call generate() for them too. */
  generateForQueries(texts: string[]): Promise<number[][]> {
    return this.embed_.queries(texts);
  }

  defaultSpace(): 'cosine' {
    return 'cosine';
  }

  supportedSpaces(): ('cosine' | 'l2' | 'ip')[] {
    return ['cosine', 'l2', 'ip'];
  }
}
