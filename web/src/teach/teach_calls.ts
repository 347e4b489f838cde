// The calls of the training worker: the caller's end, and their types. TeachHost (lesson.ts) runs them.
import type { VariantChoice } from '../engine/variant.js';
import type { SourceSpec } from '../sources/source.js';
import type { TrainingTask } from '../tasks/definition.js';
import type { GradientRequest, GradientResult } from '../tasks/explanations.js';
import type { WorkerPort } from '../worker/messages.js';
import { Remote } from '../worker/remote_host.js';
import type { PlainExample, ProblemType } from './examples.js';
import type { ExplainedModel } from './open_trainer.js';
import type { TeachProgress } from './options.js';
import type { LessonResult } from './report.js';

export interface LessonRequest {
  task: TrainingTask;
  source: SourceSpec;
  /** For replaced-token detection; undefined means a new generator. */
  generator?: SourceSpec | undefined;
  choice: Pick<VariantChoice, 'threads' | 'reason'>;
  wasm?: string | undefined;
  examples: PlainExample[];
  validation: PlainExample[];
  /** Undefined means that the engine chooses. */
  method?: { method: string; layers?: number } | undefined;
  labels?: string[] | undefined;
  problem?: ProblemType | undefined;
  classWeights?: Record<string, number> | undefined;
  notices: string[];
  /** Settings that only the engine reads. */
  settings: Record<string, unknown>;
}

export interface TeachCalls {
  teach(request: LessonRequest): Promise<LessonResult>;
  /** Opens the model that explain() explains. */
  open(model: ExplainedModel): Promise<void>;
  explain(request: GradientRequest): Promise<GradientResult>;
}

/** A training worker. It ends at dispose(). */
export class TeachWorker implements TeachCalls {
  private readonly remote_: Remote;

  constructor(port: WorkerPort, report: (progress: TeachProgress) => void = () => {}) {
    this.remote_ = new Remote(port, report);
  }

  teach(request: LessonRequest): Promise<LessonResult> {
    return this.call('teach', request) as Promise<LessonResult>;
  }

  open(model: ExplainedModel): Promise<void> {
    return this.call('open', model) as Promise<void>;
  }

  explain(request: GradientRequest): Promise<GradientResult> {
    return this.call('explain', request) as Promise<GradientResult>;
  }

  usable(): boolean {
    return this.remote_.usable();
  }

  dispose(): void {
    this.remote_.dispose();
  }

  private call(verb: keyof TeachCalls, request: unknown): Promise<unknown> {
    return this.remote_.call(verb, request);
  }
}
