import type { LoadReport } from '../../../web/src/engine/models/load.js';
import { resolveSource, type SourceOptions } from '../../../web/src/sources/source.js';
import { LocalHost } from '../../../web/src/worker/local_host.js';
import type { EngineRuntime } from '../../../web/src/worker/runtime.js';
import { nodeEngines } from '../../../web/src/worker/runtime_node.js';
import { type FakeRecord, fakeEngine } from './fake_engine.js';

export interface FakeLoad {
  record: FakeRecord;
  report: LoadReport;
}

export async function loadFake(
  source: string,
  { signal, parts = {}, ...options }: SourceOptions & { signal?: AbortSignal; parts?: Partial<EngineRuntime> } = {},
): Promise<FakeLoad> {
  let record: FakeRecord | undefined;
  const startEngine = async () => {
    const fake = fakeEngine(); // a load that is repeated starts an engine of its own
    record = fake.record;
    return fake.engine;
  };
  const host = new LocalHost(() => {}, { ...nodeEngines, startEngine, ...parts });
  signal?.addEventListener('abort', () => host.dispose());
  const spec = await resolveSource(source, options, { baseUrl: () => undefined, findFolder: async () => undefined });
  try {
    const report = await host.call('load', {
      task: { name: 't' },
      dtype: 'f32',
      source: spec,
      choice: { variant: 'simd', threads: 1, reason: '' },
    });
    return { record: record!, report };
  } catch (error) {
    host.dispose();
    throw error;
  }
}
