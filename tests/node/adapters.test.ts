// The adapters without their libraries, which tests/packaging/hosts has in all supported versions.
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type * as Langchain from '../../web/dist/adapters/langchain.js';
import type { PipelineState } from '../../web/dist/adapters/react.js';
import type { Pipeline } from '../../web/dist/index_node.js';

const kSentiment = fileURLToPath(new URL('../../models/peruse-sentiment-convbert-tiny', import.meta.url));

/** Modules in place of the libraries; tools/dev/vitest.config.ts has them, too. */
const kStandIns: Record<string, string> = {
  react: new URL('support/react_stand_in.mjs', import.meta.url).href,
  '@langchain/core/embeddings': new URL('support/langchain_stand_in.mjs', import.meta.url).href,
};
const kHooks = `const standIns = ${JSON.stringify(kStandIns)};
  export const resolve = (name, context, next) => (standIns[name] ? { url: standIns[name], shortCircuit: true } : next(name, context));`;
register(`data:text/javascript,${encodeURIComponent(kHooks)}`);

describe('peruse/langchain', () => {
  let PeruseReranker: typeof Langchain.PeruseReranker;
  beforeAll(async () => {
    ({ PeruseReranker } = await import('../../web/dist/adapters/langchain.js'));
  });

  /** Ranks by length. */
  const rank = (async (_: string, texts: string[], { top_k: most }: { top_k?: number }) =>
    texts
      .map((text, corpus_id) => ({ corpus_id, score: text.length }))
      .sort((one, other) => other.score - one.score)
      .slice(0, most)) as unknown as Pipeline<'text-ranking'>;

  class Document {
    readonly id = 'seven';
    constructor(
      readonly pageContent: string,
      readonly metadata: Record<string, unknown>,
    ) {}
    shout(): string {
      return this.pageContent.toUpperCase();
    }
  }

  test('a ranked document keeps its class and members, and the given one its metadata', async () => {
    const given = new Document('t1', { page: 3 });
    const [ranked] = await new PeruseReranker(rank).compressDocuments([given], 't2');
    expect(ranked).toBeInstanceOf(Document);
    expect(ranked).not.toBe(given);
    expect({ id: ranked!.id, shouted: ranked!.shout(), page: ranked!.metadata.page }).toEqual({ id: 'seven', shouted: 'T1', page: 3 });
    expect(ranked!.metadata.relevanceScore).toBe(2);
    expect(given.metadata).toEqual({ page: 3 });
  });

  test('topN keeps the best documents', async () => {
    const documents = ['a', 'long', 'word'.repeat(3), 'six'].map((text) => new Document(text, {}));
    const best = await new PeruseReranker(rank, { topN: 2 }).compressDocuments(documents, 'x');
    expect(best.map(({ pageContent }) => pageContent)).toEqual(['wordwordword', 'long']);
    expect(await new PeruseReranker(rank).compressDocuments(documents, 'x')).toHaveLength(4);
  });
});

describe('peruse/react', () => {
  type Component = { shown: PipelineState<'text-classification'>[]; update(...args: unknown[]): void; unmount(): void };
  let mount: (source: unknown) => Component;
  beforeAll(async () => {
    const { usePipeline } = await import('../../web/dist/adapters/react.js');
    const mountHook = (globalThis as unknown as Record<symbol, (...given: unknown[]) => Component>)[Symbol.for('react stand-in')]!;
    mount = (source) => mountHook((one: string) => usePipeline('text-classification', one), source);
  });

  const last = ({ shown }: Component) => shown.at(-1)!;
  const ready = (component: Component) => expect.poll(() => last(component).status, { timeout: 30_000 }).toBe('ready');

  test('shows loading, progress and the pipeline, and disposes it', async () => {
    const component = mount(kSentiment);
    await ready(component);
    expect(component.shown[0]).toEqual({ status: 'loading', progress: 0 });
    expect(component.shown.some(({ status, progress }) => status === 'loading' && progress > 0)).toBe(true);
    const { pipeline: classify } = last(component);
    expect(await classify!('Lovely.')).toHaveLength(1);
    component.unmount();
    await expect.poll(() => classify!('Lovely.').catch(({ code }) => code), { timeout: 10_000 }).toBe('disposed');
  });

  test('a source that returns is loading again: its earlier pipeline has been disposed', async () => {
    const component = mount(kSentiment);
    await ready(component);
    component.update(null);
    expect(last(component).status).toBe('idle');
    const before = component.shown.length;
    component.update(kSentiment);
    expect(component.shown.slice(before + 1).every(({ status }) => status === 'loading')).toBe(true);
    expect(last(component).status).toBe('loading');
    await ready(component);
    component.unmount();
  });

  test('shows an error, and nothing after it is unmounted', async () => {
    const component = mount('./missing/');
    await expect.poll(() => last(component).status).toBe('error');
    expect(last(component).error).toMatchObject({ code: 'not_found' });
    const other = mount(kSentiment);
    other.unmount();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(other.shown.map(({ status }) => status)).not.toContain('ready');
    expect(other.shown.map(({ status }) => status)).not.toContain('error');
  });
});
