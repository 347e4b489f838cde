// A fake engine with the interface of bindings/. It checks the order of calls and records their arguments.
import { Engine, type EngineModule } from '../../../web/src/engine/engine.js';

export interface FakeRecord {
  files: Map<string, string>;
  open?: unknown;
  weights: Uint8Array[];
  requests: unknown[];
  deleted: boolean;
}

export interface FakeBehaviour {
  replies?: Partial<Record<'addFile' | 'open' | 'feedWeights' | 'finishWeights' | 'start' | 'take', object>>;
  /** A method that traps, like a failed CHECK. */
  traps?: string;
  shards?: string[];
  inspection?: object;
  steps?: number;
  /** Bytes above which reserve() fails. */
  memory?: number;
}

export function fakeEngine(behaviour: FakeBehaviour = {}): { engine: Engine; record: FakeRecord } {
  const record: FakeRecord = { files: new Map(), weights: [], requests: [], deleted: false };
  const module = { HEAPU8: new Uint8Array(1 << 22) } as EngineModule;
  const kStaging = 64;
  const staged = (bytes: number) => module.HEAPU8.slice(kStaging, kStaging + bytes);
  const text = (bytes: number) => new TextDecoder('utf-8', { fatal: true }).decode(staged(bytes));
  const under = new Map<number, { request: unknown; stepsLeft: number; inspecting: boolean }>(); // requests under way
  let selected = 0;
  const begin = (bytes: number, stepsLeft: number, inspecting: boolean) => {
    const request = JSON.parse(text(bytes)) as unknown;
    record.requests.push(request);
    under.set(selected, { request, stepsLeft, inspecting });
    return answer('start');
  };

  const answer = (method: keyof NonNullable<FakeBehaviour['replies']>, usual: object = {}) => {
    if (behaviour.traps === method) throw new WebAssembly.RuntimeError('unreachable');
    return JSON.stringify(behaviour.replies?.[method] ?? { ok: true, ...usual });
  };

  module.Session = class {
    reserve(bytes: number) {
      return bytes > (behaviour.memory ?? 1 << 21) ? 0 : kStaging;
    }
    addFile(name: string, bytes: number) {
      record.files.set(name, text(bytes));
      return answer('addFile');
    }
    open(bytes: number) {
      record.open = JSON.parse(text(bytes));
      return answer('open');
    }
    setShardIndex() {
      return JSON.stringify({ ok: true, files: behaviour.shards ?? [] });
    }
    endShard() {
      return JSON.stringify({ ok: true });
    }
    feedWeights(bytes: number) {
      record.weights.push(staged(bytes));
      return answer('feedWeights');
    }
    finishWeights() {
      return answer('finishWeights', {
        report: { architecture: 'Fake', dtype: 'f32', tensors: 1, headTensors: [], extraTensors: [], weightBytes: 4 },
      });
    }
    select(request: number) {
      selected = request;
    }
    tokensRead() {
      return 0;
    }
    start(bytes: number) {
      return begin(bytes, behaviour.steps ?? 1, false);
    }
    startInspection(bytes: number) {
      return begin(bytes, 1, true);
    }
    array() {
      return 1 << 20;
    }
    step() {
      return JSON.stringify({ ok: true, more: --under.get(selected)!.stepsLeft > 0 });
    }
    take() {
      const { request, stepsLeft, inspecting } = under.get(selected)!;
      if (stepsLeft > 0) return answer('take', { parts: [] });
      if (inspecting) return answer('take', { parts: [{ input: 0, value: behaviour.inspection }] });
      const { inputs } = request as { inputs: unknown[] };
      return answer('take', { parts: inputs.map((_, input) => ({ input, value: [{ label: `L${input}`, score: 1 }] })) });
    }
    delete() {
      record.deleted = true;
    }
  } as unknown as EngineModule['Session'];
  return { engine: new Engine(module, 1), record };
}
