// The contents of a SemanticIndex (texts, chunks, vectors), and its rankings.
import { type ErrorCode, PeruseError, show, throwIfAborted } from '../errors.js';
import type { TextRange } from '../redact/text_folding.js';
import { type CallOptions, checkedOptions, checkString } from '../tasks/call.js';
import type { FeatureExtractionOptions, SparseFeatures } from '../tasks/feature_extraction.js';
import { kVectorSearch, type VectorHit } from '../tasks/vector_search.js';
import type { Tensor } from '../tensor.js';
import { chunksOf } from './chunks.js';
import { filterOf, itemsOf, type NewItem, type SearchSettings, settingsOf } from './index_options.js';
import { Keywords } from './keywords.js';
import { bestOf, Rows } from './rows.js';
import type {
  DuplicateOptions,
  DuplicatePair,
  Embedder,
  EmbedOptions,
  IndexedText,
  IndexItem,
  Metadata,
  SearchHit,
  SearchOptions,
  SemanticIndexOptions,
  TextId,
} from './search_types.js';
import type { IndexVector, Kind, Store } from './store.js';
import { kindOf, newStore, widthOf } from './stores.js';

export interface IndexedDocument {
  id: TextId;
  index: number;
  text: string;
  metadata?: Metadata;
}

export interface IndexedChunk extends TextRange {
  document: IndexedDocument;
}

type NewChunk = TextRange & { item: NewItem; vector: IndexVector };

interface Embedded {
  chunks: NewChunk[];
  how: EmbedOptions;
}

const kTextsAtOnce = 64;
/** Limits for rows that this thread compares and for removed rows that the engine still has. Above them, all rows are sent again. */
const kLeastChanges = 1024;
const kShareOfChanges = 16;
/** The same for late interaction: the product of a matrix of 32 rows and one of 128 is that of 4,096 vectors. */
const kLeastMatrices = 16;
const kShareOfMatrices = 64;
/** The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), and the number of hits of each ranking that are fused. */
const kRankConstant = 60;
const kLeastFused = 100;

/** A search is short: it passes calls that add texts. */
const kUrgent = { priority: 'high' } as const;

function urgently({ signal }: SearchOptions): Pick<CallOptions, 'signal' | 'priority'> {
  return { ...kUrgent, ...(signal && { signal }) };
}

let indexes = 0;

export class IndexCore {
  private readonly number_ = ++indexes;
  private readonly documents_ = new Map<TextId, IndexedDocument>();
  private firstRows_ = new Map<IndexedDocument, number>(); // the chunks of a document have consecutive rows
  private chunks_: (IndexedChunk | undefined)[] = []; // indexed by row; undefined means removed
  private removed_ = 0;
  private store_: Store | undefined;
  private keywords_: Keywords | undefined; // built by the first search that uses keywords
  private next_ = 0; // the number of the next text
  private sent_ = 0; // number of rows that the engine has
  private epoch_ = 0; // number of times that row numbers have changed
  private sending_: Promise<void> | undefined;
  /** Options with which the rows were embedded; undefined before the first row. */
  how: EmbedOptions | undefined;

  constructor(
    readonly embedder: Embedder,
    readonly options: SemanticIndexOptions,
  ) {}

  get size(): number {
    return this.documents_.size;
  }

  get vectors(): Float32Array<ArrayBuffer> {
    this.compact();
    if (this.store_ === undefined) return new Float32Array(0);
    if (this.store_ instanceof Rows) return this.store_.floats();
    throw new PeruseError('unsupported', 'vectors is for an index with one vector for each chunk. Use save() for others.');
  }

  contents(): { store: Store | undefined; chunks: IndexedChunk[] } {
    this.compact();
    return { store: this.store_, chunks: this.chunks_ as IndexedChunk[] };
  }

  /** Takes the rows of an earlier index; throws `code` for vectors that this index can't have. */
  restore(store: Store, chunks: readonly IndexedChunk[], code: ErrorCode = 'invalid_argument'): void {
    store.check(this.options.similarity ?? 'cosine', code);
    this.store_ = store;
    this.chunks_ = [...chunks];
    this.findFirstRows();
    for (const { document } of chunks) {
      this.documents_.set(document.id, document);
      this.next_ = Math.max(this.next_, document.index + 1);
    }
  }

  has(id: TextId): boolean {
    return this.documents_.has(id);
  }

  async add(texts: readonly (string | IndexItem)[], options: EmbedOptions & CallOptions = {}): Promise<void> {
    const items = itemsOf(texts);
    this.refuseKnown(items);
    const embedded = await this.embedded(items, options);
    this.refuseKnown(items); // Checks again, because another call may have added the same id meanwhile.
    this.append(items, embedded);
  }

  async update(texts: readonly IndexItem[], options: EmbedOptions & CallOptions = {}): Promise<void> {
    const items = itemsOf(texts);
    const embedded = await this.embedded(items, options);
    const replaced = this.known(this.numbered(items).map(({ id }) => id));
    this.append(items, embedded);
    this.drop(replaced);
  }

  remove(ids: readonly TextId[]): number {
    const gone = this.known(ids);
    for (const { id } of gone) this.documents_.delete(id);
    this.drop(gone);
    return gone.size;
  }

  private known(ids: readonly TextId[]): Set<IndexedDocument> {
    return new Set(ids.map((id) => this.documents_.get(id)).filter((document) => document !== undefined));
  }

  private refuseKnown(items: readonly NewItem[]): void {
    const known = this.numbered(items).find(({ id }) => this.documents_.has(id));
    if (known === undefined) return;
    throw new PeruseError('invalid_argument', `The index already has a text with id ${show(known.id)}. Use update() to replace it.`);
  }

  /** Removes the rows of documents that `documents_` no longer has. */
  private drop(documents: ReadonlySet<IndexedDocument>): void {
    for (const document of documents) {
      for (let row = this.firstRows_.get(document)!; this.chunks_[row]?.document === document; ++row) {
        this.keywords_?.remove(row, textOf(this.chunks_[row]!));
        this.chunks_[row] = undefined;
        this.removed_ += 1;
      }
      this.firstRows_.delete(document);
    }
    if (this.removed_ > changesAllowed(this.chunks_.length)) this.compact();
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchHit[]> {
    const settings = settingsOf(options);
    checkString(query, 'The query');
    const [vector] = await this.vectorsOf([query], howToSearch(this.how, settings.embed), urgently(options));
    if (this.documents_.size === 0) return [];
    const wanted = settings.rerank === undefined ? settings.top_k : settings.rerank_top;
    const hits = await this.ranked(query, vector!, wanted, settings);
    if (settings.rerank === undefined || hits.length === 0) return hits;
    const documents = hits.map(({ text }) => text);
    const order = await settings.rerank(query, documents, { top_k: settings.top_k, ...urgently(options) });
    return order.map(({ corpus_id, score }) => ({ ...hits[corpus_id]!, score }));
  }

  async nearDuplicates({ threshold = 0.95, signal }: DuplicateOptions = {}): Promise<DuplicatePair[]> {
    if (typeof threshold !== 'number' || !Number.isFinite(threshold)) {
      throw new PeruseError('invalid_argument', `threshold must be a number, not ${show(threshold)}.`);
    }
    this.compact();
    const { store_: rows } = this;
    if (rows === undefined) return [];
    if (!(rows instanceof Rows)) {
      throw new PeruseError('unsupported', 'nearDuplicates() needs an index with one vector for each chunk.');
    }
    const chunks = [...this.chunks_] as IndexedChunk[];
    const vectors = chunks.map((_, row) => rows.row(row));
    const pairs: DuplicatePair[] = [];
    for (const [row, first] of chunks.entries()) {
      throwIfAborted(signal);
      for (const { chunk: second, score } of await this.above(vectors[row]!, threshold)) {
        if (second.document.index > first.document.index) pairs.push({ first: shownText(first), second: shownText(second), score });
      }
    }
    return pairs.sort((a, b) => b.score - a.score || a.first.index - b.first.index || a.second.index - b.second.index);
  }

  private async above(vector: Float32Array, threshold: number): Promise<{ chunk: IndexedChunk; score: number }[]> {
    for (let count = 16; ; count *= 4) {
      const found = await this.nearest(vector, count);
      const good = found.filter(({ score }) => score >= threshold);
      if (good.length < found.length || found.length < count) return good;
    }
  }

  async release(): Promise<void> {
    this.sent_ = 0;
    await this.embedder[kVectorSearch].set({ index: this.number_, width: 1, data: new Float32Array(0) });
  }

  async vectorsOf(
    texts: readonly string[],
    how: EmbedOptions,
    call: Pick<CallOptions, 'signal' | 'priority'> = {},
  ): Promise<IndexVector[]> {
    const { dimensions, similarity, storage, max_terms } = this.options;
    const settings: FeatureExtractionOptions = { pooling: 'sentence', ...how, ...call };
    if (settings.pooling === 'none')
      throw new PeruseError('invalid_argument', "A semantic index needs one vector for each text; pooling 'none' gives several.");
    const kind = kindOf(settings);
    refuseOfOtherKinds(kind, { dimensions, similarity, storage, max_terms });
    if (kind === 'dense') Object.assign(settings, { normalize: similarity !== 'dot' }, dimensions !== undefined && { dimensions });
    if (max_terms !== undefined && how.task !== 'query') settings.top_k = max_terms;
    const found = (await this.embedder(texts, settings)) as Iterable<Tensor> | SparseFeatures[];
    return Array.from(found, (one: Tensor | SparseFeatures) => this.fitting(kind === 'dense' ? (one as Tensor).data : one));
  }

  /** The documents that `items` become if they are added now. */
  private numbered(items: readonly NewItem[]): IndexedDocument[] {
    const documents = items.map(({ id, ...item }, place) => ({ ...item, id: id ?? this.next_ + place, index: this.next_ + place }));
    const ids = new Set<TextId>();
    for (const { id } of documents) {
      if (ids.has(id)) throw new PeruseError('invalid_argument', `Two inputs have the id ${show(id)}.`);
      ids.add(id);
    }
    return documents;
  }

  private async embedded(items: readonly NewItem[], options: EmbedOptions & CallOptions): Promise<Embedded> {
    const { signal, ...given } = options;
    const how = howToAdd(this.how, given);
    const chunks: (TextRange & { item: NewItem })[] = [];
    for (const item of items) {
      throwIfAborted(signal);
      for (const range of await this.rangesOf(item.text)) chunks.push({ item, ...range });
    }
    const made: NewChunk[] = [];
    for (let at = 0; at < chunks.length; at += kTextsAtOnce) {
      const batch = chunks.slice(at, at + kTextsAtOnce);
      try {
        const texts = batch.map(({ item, start, end }) => item.text.slice(start, end));
        const vectors = await this.vectorsOf(texts, how, signal && { signal });
        made.push(...batch.map((chunk, index) => ({ ...chunk, vector: vectors[index]! })));
      } catch (error) {
        throw renumbered(error, (place) => items.indexOf(batch[place]?.item ?? items[0]!));
      }
    }
    return { chunks: made, how };
  }

  private async rangesOf(text: string): Promise<TextRange[]> {
    const { chunk_tokens: tokens, chunk_overlap } = this.options;
    if (tokens === undefined) return [{ start: 0, end: text.length }];
    return chunksOf(text, this.embedder.tokenizer, { tokens, overlap: chunk_overlap ?? tokens >> 3 });
  }

  private fitting(vector: IndexVector): IndexVector {
    const own = widthOf(vector);
    const width = this.store_?.width ?? own;
    // A table of queries may lack tokens at the end of the model's vocabulary.
    if (width === own || this.store_?.kind === 'sparse') return vector;
    throw new PeruseError('invalid_argument', `A vector has ${own} numbers, but the others have ${width}.`);
  }

  private append(items: readonly NewItem[], { chunks, how: given }: Embedded): void {
    const how = howToAdd(this.how, given); // Checks again, because another call may have added the first texts meanwhile.
    for (const { vector } of chunks) this.fitting(vector);
    this.store_ ??= chunks[0] && newStore(kindOf(how), widthOf(chunks[0].vector), this.options.storage);
    this.store_?.reserveFor(chunks.length);
    const documents = new Map(this.numbered(items).map((document, place) => [items[place]!, document]));
    this.next_ += documents.size;
    if (documents.size > 0) this.how = how;
    for (const document of documents.values()) this.documents_.set(document.id, document);
    for (const { vector, item, start, end } of chunks) {
      const chunk = { document: documents.get(item)!, start, end };
      const row = this.chunks_.push(chunk) - 1;
      if (!this.firstRows_.has(chunk.document)) this.firstRows_.set(chunk.document, row);
      this.keywords_?.add(row, textOf(chunk));
      this.store_!.append(vector);
    }
  }

  private findFirstRows(): void {
    this.firstRows_ = new Map();
    for (const [row, chunk] of this.chunks_.entries()) {
      if (chunk !== undefined && !this.firstRows_.has(chunk.document)) this.firstRows_.set(chunk.document, row);
    }
  }

  /** Drops removed rows, which changes the numbers of those after them. */
  private compact(): void {
    if (this.removed_ === 0) return;
    const kept = [...this.chunks_.keys()].filter((row) => this.chunks_[row] !== undefined);
    this.store_ = this.store_!.only(kept);
    this.chunks_ = kept.map((row) => this.chunks_[row]);
    this.findFirstRows();
    this.removed_ = 0;
    this.keywords_ = this.keywords_?.only(kept);
    this.sent_ = 0;
    this.epoch_ += 1;
  }

  private async ranked(query: string, vector: IndexVector, count: number, settings: SearchSettings): Promise<SearchHit[]> {
    const filter = settings.filter && filterOf(settings.filter);
    const accepted = (chunk: IndexedChunk | undefined) =>
      chunk !== undefined && (filter === undefined || filter(chunk.document.metadata ?? {}, chunk.document.id));
    const found = await this.nearest(vector, settings.keywords ? Math.max(count, kLeastFused) : count, filter && accepted);
    const strange = found.find(({ score }) => !Number.isFinite(score));
    if (strange !== undefined) {
      const words = `The product of the query with vector ${strange.row} is not finite`;
      throw new PeruseError('invalid_argument', `${words}: its numbers are too large for 'dot'.`);
    }
    const hits = found.map(({ chunk, score }) => ({ chunk, score }));
    const best = settings.keywords ? fused([hits, this.byKeywords(query, Math.max(count, kLeastFused), accepted)]) : hits;
    return best.slice(0, count).map(({ chunk, score }) => ({ ...shownText(chunk), score }));
  }

  private byKeywords(query: string, count: number, accepted: (chunk: IndexedChunk | undefined) => boolean) {
    if (this.keywords_ === undefined) {
      this.keywords_ = new Keywords();
      for (const [row, chunk] of this.chunks_.entries()) if (chunk !== undefined) this.keywords_.add(row, textOf(chunk));
    }
    const found = this.keywords_.search(query, count, (row) => accepted(this.chunks_[row]));
    return found.map(({ row, score }) => ({ chunk: this.chunks_[row]!, score }));
  }

  /** The rows with the largest products, best first. With `accept`, the accepted rows are compared in this thread, otherwise in the engine. */
  private async nearest(query: IndexVector, count: number, accept?: (chunk: IndexedChunk | undefined) => boolean) {
    const isKept = (row: number) => this.chunks_[row] !== undefined;
    const withChunks = (hits: VectorHit[]) => bestOf(hits, count).map((hit) => ({ ...hit, chunk: this.chunks_[hit.row]! }));
    const store = this.store_!;
    if (accept !== undefined) return withChunks(store.nearest(query, count, 0, (row) => accept(this.chunks_[row])));
    if (store.kind === 'sparse') return withChunks(store.nearest(query, count, 0, isKept));
    const rows = query instanceof Float32Array ? query : (query as Tensor).data;
    for (;;) {
      if (this.chunks_.length - this.sent_ > changesAllowed(this.sent_, store.kind)) await this.send();
      const [epoch, sent] = [this.epoch_, this.sent_];
      const request = { index: this.number_, query: rows, top_k: Math.min(count + this.removed_, sent) };
      const found = sent === 0 ? [] : await this.embedder[kVectorSearch].nearest(request, kUrgent);
      if (found === null)
        this.sent_ = 0; // The engine has lost the rows, because the model was loaded again.
      else if (epoch === this.epoch_) {
        return withChunks([...found.filter(({ row }) => isKept(row)), ...this.store_!.nearest(query, count, sent, isKept)]);
      }
    }
  }

  private async send(): Promise<void> {
    this.sending_ ??= this.sendNow().finally(() => {
      this.sending_ = undefined;
    });
    return this.sending_;
  }

  private async sendNow(): Promise<void> {
    this.compact();
    const { epoch_: epoch, store_: store } = this;
    const count = store!.count;
    await this.embedder[kVectorSearch].set({ index: this.number_, ...store!.forEngine()! });
    if (epoch === this.epoch_) this.sent_ = count;
  }
}

/** Options of an index that only some kinds of vectors have. */
function refuseOfOtherKinds(kind: Kind, given: Pick<SemanticIndexOptions, 'dimensions' | 'similarity' | 'storage' | 'max_terms'>): void {
  const known: Record<Kind, readonly string[]> = {
    dense: ['dimensions', 'similarity', 'storage'],
    sparse: ['max_terms'],
    multi_vector: [],
  };
  const [name] = Object.entries(given).find(([option, value]) => value !== undefined && !known[kind].includes(option)) ?? [];
  if (name === undefined) return;
  throw new PeruseError('invalid_argument', `The index option ${name} is not for ${kKindNames[kind]}.`);
}

const kKindNames: Record<Kind, string> = { dense: 'dense vectors', sparse: 'sparse vectors', multi_vector: 'late interaction' };

function changesAllowed(rows: number, kind?: Kind): number {
  if (kind === 'multi_vector') return Math.max(kLeastMatrices, Math.floor(rows / kShareOfMatrices));
  return Math.max(kLeastChanges, Math.floor(rows / kShareOfChanges));
}

function textOf({ document, start, end }: IndexedChunk): string {
  return document.text.slice(start, end);
}

function shownText({ document: { id, index, text, metadata }, start, end }: IndexedChunk): IndexedText {
  return { id, index, start, end, text: text.slice(start, end), ...(metadata === undefined ? {} : { metadata }) };
}

/** Reciprocal rank fusion: adds the scores of a chunk in all rankings. */
function fused(rankings: { chunk: IndexedChunk }[][]): { chunk: IndexedChunk; score: number }[] {
  const scores = new Map<IndexedChunk, number>();
  for (const ranking of rankings) {
    for (const [place, { chunk }] of ranking.entries()) scores.set(chunk, (scores.get(chunk) ?? 0) + 1 / (kRankConstant + place + 1));
  }
  return Array.from(scores, ([chunk, score]) => ({ chunk, score })).sort((a, b) => b.score - a.score);
}

/** An error about an input of a batch, with the number of its text among all texts of the call. */
function renumbered(error: unknown, numberOf: (place: number) => number): unknown {
  if (!(error instanceof PeruseError)) return error;
  const message = error.message.replace(/\binput (\d+)/i, (words, place: string) => words.replace(place, String(numberOf(Number(place)))));
  return message === error.message ? error : new PeruseError(error.code, message, { cause: error });
}

// Texts and queries must become vectors in the same way: only their prompts may differ.

const kEmbedOptions = { pooling: true, prompt: true, prompt_name: true, task: true, truncation: true, head_mask: true } as const;
type How = Record<string, unknown>;

/** Options for more texts of an index: those of the texts that it has, `known`. Throws if `given` contradicts them. */
function howToAdd(known: EmbedOptions | undefined, given: EmbedOptions): EmbedOptions {
  const checked = checkedOptions('add', kEmbedOptions, given);
  if (known !== undefined) refuseOthers(known, checked, Object.keys(checked));
  const how = { pooling: 'sentence', ...known, ...checked } as EmbedOptions;
  return kindOf(how) === 'dense' ? how : { task: 'document', ...how };
}

/** Options for a query to texts that were added with `known`. */
function howToSearch(known: EmbedOptions | undefined, given: EmbedOptions): EmbedOptions {
  const checked = checkedOptions('search', kEmbedOptions, given);
  if (known === undefined) return kindOf(checked) === 'dense' ? checked : { task: 'query', ...checked };
  refuseOthers(known, checked, ['pooling', 'head_mask']);
  const { prompt, prompt_name, task, ...others } = known;
  const named = prompt_name === undefined ? prompt && `prompt ${show(prompt)}` : `prompt_name ${show(prompt_name)}`;
  if (named && checked.prompt === undefined && checked.prompt_name === undefined) {
    const words = `The texts of this index were added with ${named}, and the query has no prompt`;
    throw new PeruseError('invalid_argument', `${words}. Pass prompt_name or prompt for queries, or prompt: '' for none.`);
  }
  return { ...others, ...(task && { task: 'query' }), ...checked };
}

function refuseOthers(known: EmbedOptions, given: How, names: readonly string[]): void {
  const inKnown = (name: string) => (known as How)[name];
  const other = names.find((name) => given[name] !== undefined && JSON.stringify(given[name]) !== JSON.stringify(inKnown(name)));
  if (other === undefined) return;
  const before = inKnown(other) === undefined ? `without ${other}` : `with ${other} ${show(inKnown(other))}`;
  throw new PeruseError('invalid_argument', `The texts of this index were added ${before}; it can't be ${show(given[other])} now.`);
}
