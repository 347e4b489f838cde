import type { CallOptions } from '../tasks/call.js';
import type { FeatureExtractionCall, FeatureExtractionOptions } from '../tasks/feature_extraction.js';
import type { TextRankingCall } from '../tasks/text_ranking.js';
import type { PipelineTokenizer } from '../tasks/tokenizer_calls.js';
import type { kVectorSearch, VectorSearch } from '../tasks/vector_search.js';

/** A pipeline for feature-extraction. */
export type Embedder = FeatureExtractionCall & {
  readonly info: { readonly model: string; readonly revision?: string; readonly dtype: string };
  readonly tokenizer: PipelineTokenizer;
  readonly [kVectorSearch]: VectorSearch;
};

/**
 * How texts become vectors: options of feature-extraction. `pooling` is 'sentence' by default. It decides what the index stores: 'splade' inverted
 * lists of sparse vectors, 'multi_vector' matrices for late interaction, in 8 bits; other poolings dense vectors. For the first two, `task` is
 * 'document' for texts and 'query' for queries by default.
 */
export type EmbedOptions = Pick<FeatureExtractionOptions, 'pooling' | 'prompt' | 'prompt_name' | 'task' | 'truncation'>;

/** Options of an index. */
export interface SemanticIndexOptions {
  /** Vectors of an earlier index (`index.vectors`), made with the same model and options. `save()` also stores texts, ids and metadata. */
  vectors?: Float32Array;
  /** Keep the first numbers of each vector, for models that were trained for that (Matryoshka). Default: all. */
  dimensions?: number;
  /** 'cosine' (the default) scores by the angle between two vectors and normalizes them, 'dot' by their product. */
  similarity?: 'cosine' | 'dot';
  /** Split each text at sentence boundaries into chunks of at most this many tokens; each has its own vector. Default: texts are not split. */
  chunk_tokens?: number;
  /** Tokens of whole sentences that a chunk repeats from the previous one. Default: an eighth of `chunk_tokens`. */
  chunk_overlap?: number;
  /** Store vectors as 8-bit integers with one scale each: a quarter of the memory and of the file. Default 'float32'. */
  storage?: 'float32' | 'int8';
  /** For 'splade': store only this many largest weights of each chunk. Default: all. */
  max_terms?: number;
}

/** Names a text within an index. */
export type TextId = string | number;

/** Data of a text, for filters. It is copied as JSON. */
export type Metadata = Readonly<Record<string, unknown>>;

/** A text to add. */
export interface IndexItem {
  /** Default: the text's number. */
  id?: TextId;
  text: string;
  metadata?: Metadata;
}

/** Chooses texts: by values of their metadata (a list means any of its values), or by a function. */
export type SearchFilter = Readonly<Record<string, unknown>> | ((metadata: Metadata, id: TextId) => boolean);

/** Options of a search. `pooling` must be that of the texts. If they have a prompt, the query needs its own, or `prompt: ''` for none. */
export interface SearchOptions extends EmbedOptions, CallOptions {
  /** Maximum number of hits. Default 10. */
  top_k?: number;
  /** Search only these texts. Default: all. */
  filter?: SearchFilter;
  /** Also rank by BM25, and fuse both rankings by reciprocal rank; `score` is then the sum of 1 / (60 + rank). Default false. */
  keywords?: boolean;
  /** A pipeline for text-ranking that orders the first hits again; `score` is then its score. */
  rerank?: TextRankingCall;
  /** Hits that `rerank` reads, and the maximum number that are returned with it. Default 20, or `top_k` if that is larger. */
  rerank_top?: number;
}

/** A text of an index, or a chunk of it. */
export interface IndexedText {
  id: TextId;
  /** The text's number: texts are numbered in the order of their addition, and keep their numbers. */
  index: number;
  /** UTF-16 indices of the chunk in the text that was added. */
  start: number;
  end: number;
  /** The chunk. Empty if the index was made from `vectors`, which lack texts. */
  text: string;
  metadata?: Metadata;
}

/** A hit, with its score. */
export interface SearchHit extends IndexedText {
  score: number;
}

/** Options of `nearDuplicates()`. */
export interface DuplicateOptions {
  /** The least score of a pair, as `search` scores. Default 0.95. */
  threshold?: number;
  /** Cancels the comparison. */
  signal?: AbortSignal;
}

/** Two chunks of different texts that are almost the same. */
export interface DuplicatePair {
  first: IndexedText;
  second: IndexedText;
  score: number;
}
