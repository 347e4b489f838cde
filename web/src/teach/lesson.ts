// A training run in the engine's thread: loads the model, adds the examples, runs the steps, and collects the trained model.

import { onAbort, PeruseError, throwIfAborted } from '../errors.js';
import { letEventsIn } from '../events.js';
import { locate, readForTraining } from '../sources/checkpoint.js';
import { healing } from '../sources/folders/healing.js';
import { parseObject } from '../sources/json.js';
import { openCheckpoint, openWithStatic } from '../sources/open_checkpoint.js';
import type { NamedFile, Reading } from '../sources/read_files.js';
import type { SourceSpec } from '../sources/source.js';
import { floatConfig, floatNotice, type QuantizedConfig, quantizedConfig } from '../sources/weights/float_weights.js';
import { hasClassifier, type TrainingTask } from '../tasks/definition.js';
import { Starting } from '../worker/host.js';
import type { Served } from '../worker/serve.js';
import { labelCounts } from './examples.js';
import { feedTrainer, openExplained, startTrainer, type TrainerRequest, type TrainerRuntime } from './open_trainer.js';
import type { TeachProgress } from './options.js';
import type { LessonResult, TeachReport } from './report.js';
import type { LessonRequest, TeachCalls } from './teach_calls.js';
import type { Plan, StepMade, Trainer, WeightsTaken } from './trainer.js';

/** Runs the calls of a TeachWorker (teach_calls.ts). */
export class TeachHost implements Served {
  private readonly stop_ = new AbortController();
  private readonly starting_ = new Starting();
  private explained_: Trainer | undefined;
  private readonly calls_: TeachCalls = {
    teach: (lesson) =>
      healing((opened) => {
        const runtime = { ...this.runtime_, opened };
        return new Lesson(lesson, this.report_, runtime, this.stop_.signal).run(this.start(lesson));
      }),
    open: async (model) => {
      this.explained_ = await openExplained(model, this.start(model), this.runtime_, this.stop_.signal);
    },
    explain: async (request) => this.explained_!.explain(request),
  };

  constructor(
    private readonly report_: (progress: TeachProgress) => void,
    private readonly runtime_: TrainerRuntime,
  ) {}

  async call(verb: keyof TeachCalls, request: never, signal?: AbortSignal): Promise<unknown> {
    const unfollow = signal && onAbort(signal, () => this.stop_.abort());
    try {
      throwIfAborted(signal);
      return await this.calls_[verb](request);
    } finally {
      unfollow?.();
    }
  }

  dispose(): void {
    this.stop_.abort();
  }

  ended(): Promise<void> {
    return this.starting_.ended();
  }

  private start(request: TrainerRequest): Promise<Trainer> {
    const starting = this.starting_.add(startTrainer(request, this.runtime_));
    starting.catch(() => {}); // awaited later; errors in the files have priority
    return starting;
  }
}

class Lesson {
  private readonly notices_ = new Set<string>();
  private progress_: TeachProgress = { phase: 'loading', step: 0, steps: 0, epoch: 0, epochs: 0, loss: null, learning_rate: 0 };

  constructor(
    private readonly request_: LessonRequest,
    private readonly report_: (progress: TeachProgress) => void,
    private readonly runtime_: TrainerRuntime,
    private readonly signal_: AbortSignal,
  ) {}

  async run(starting: Promise<Trainer>): Promise<LessonResult> {
    try {
      return await this.teach(starting);
    } finally {
      starting.then((trainer) => trainer.dispose()).catch(() => {}); // ending the worker frees memory that a broken engine cannot
    }
  }

  private async teach(starting: Promise<Trainer>): Promise<LessonResult> {
    const start = performance.now();
    const { generator, source } = this.request_;
    const opened = await this.open(source);
    const { job, texts: found, modules } = await readForTraining(opened, () => hasClassifier(this.request_.task));
    const { config, quantized } = this.asFloats(found[0]!);
    const texts = [config, ...found.slice(1)];
    const generatorFiles = generator && (await locate(await this.open(generator)));
    const other = generatorFiles && this.asFloats(generatorFiles.config);
    const trainer = await starting;
    for (const { name, content } of [...texts, ...modules]) trainer.addFile(name, content);
    if (other) trainer.addFile('generator/config.json', other.config.content);
    trainer.open(this.openRequest(texts));
    const keeps = this.request_.method?.method === 'lora';
    const { weights, base } = await feedTrainer(job, trainer, keeps, quantized);
    if (generatorFiles) {
      const { fresh } = (await feedTrainer(generatorFiles.job, trainer, false, other?.quantized)).weights;
      weights.fresh.push(...fresh.map((name) => `generator/${name}`));
    }
    trainer.addExamples('training', this.request_.examples);
    trainer.addExamples('validation', this.request_.validation);
    const plan = trainer.begin();
    const begun = performance.now();
    await this.work(trainer, plan);
    const ended = performance.now();
    const made = new Map(trainer.files().map((file) => [file.name, trainer.readFile(file)]));
    const milliseconds = { loading: begun - start, teaching: ended - begun };
    const result: LessonResult = {
      report: this.describe(trainer, plan, weights, milliseconds),
      made,
      texts: new Map(texts.map(({ name, content }) => [name, content as Uint8Array<ArrayBuffer>])),
    };
    return base === undefined ? result : { ...result, base };
  }

  private async open(source: SourceSpec): Promise<Reading> {
    const notice = (sentence: string) => this.notices_.add(sentence);
    const open = hasClassifier(this.request_.task) ? openWithStatic : openCheckpoint;
    const opened = await open(source, { ...this.runtime_, notice }, this.signal_);
    return { ...opened, report: (load) => this.report_({ ...this.progress_, load }) };
  }

  /** Returns the config.json of the model with float weights, which training needs. */
  private asFloats(config: NamedFile): { config: NamedFile; quantized?: QuantizedConfig } {
    const quantized = quantizedConfig(config);
    if (quantized === undefined) return { config };
    this.notices_.add(floatNotice(quantized.form, 'training'));
    return { config: { name: config.name, content: floatConfig(quantized) }, quantized };
  }

  private openRequest(texts: readonly NamedFile[]): Record<string, unknown> {
    const { task, method, settings, classWeights, choice } = this.request_;
    const request: Record<string, unknown> = { task: task.name, ...method, ...settings, threads: choice.threads };
    if (task.examples === 'labels') request.problem_type = this.request_.problem;
    const known = modelLabels(texts);
    const labels = task.examples === 'lines' ? undefined : this.labels(known);
    if (labels !== undefined) request.labels = labels;
    if (classWeights !== undefined) request.class_weights = weightsOf(classWeights, labels ?? known, task);
    return request;
  }

  private labels(known: readonly string[]): string[] | undefined {
    const { task, labels, examples, problem } = this.request_;
    if (labels !== undefined || task.examples === 'answers') return labels;
    const named = [...labelCounts(task, examples).keys()].sort();
    if (problem === 'regression') return typeof examples[0]?.label === 'number' && known.length !== 1 ? ['LABEL_0'] : undefined;
    if (named.length === 0) {
      if (task.examples === 'entities' && !known.includes('O')) {
        throw new PeruseError(
          'invalid_argument',
          'No example has an entity, so there is nothing to learn. To add examples with entities later, name their kinds in the option labels.',
        );
      }
      return undefined;
    }
    if (task.readsLabels) return named;
    const known_ = new Set(task.examples === 'entities' ? known.map((label) => label.replace(/^[BI]-/, '')) : known);
    return named.every((label) => known_.has(label)) ? undefined : named;
  }

  private async work(trainer: Trainer, plan: Plan): Promise<void> {
    let step: StepMade;
    do {
      await letEventsIn(); // lets messages arrive, such as a cancellation
      throwIfAborted(this.signal_);
      step = trainer.step();
      const { more: _, ...progress } = step;
      this.progress_ = { ...progress, epochs: plan.epochs };
      this.report_(this.progress_);
    } while (step.more);
  }

  private describe(trainer: Trainer, plan: Plan, weights: WeightsTaken, milliseconds: TeachReport['milliseconds']): TeachReport {
    const { best_epoch, epochs, labels, notices, memory_bytes: planned_bytes, ...rest } = trainer.report();
    const kept = best_epoch === null ? undefined : epochs[best_epoch - 1]?.validation;
    return {
      ...rest,
      labels: ['answers', 'lines'].includes(this.request_.task.examples) ? [] : labels,
      examples: plan.examples,
      validation_examples: plan.validation_examples,
      epochs,
      best_epoch,
      ...(kept === undefined ? {} : { validation: kept }),
      parameters: weights.parameters,
      fresh: weights.fresh,
      memory: { planned_bytes, heap_bytes: trainer.heapBytes() },
      milliseconds,
      ...this.request_.choice,
      notices: [...this.notices_, ...this.request_.notices, ...notices],
    };
  }
}

function modelLabels(texts: readonly NamedFile[]): string[] {
  const config = texts.find(({ name }) => name === 'config.json');
  try {
    const { id2label } = parseObject('config.json', config?.content ?? new Uint8Array()) as { id2label?: Record<string, string> };
    return Object.entries(id2label ?? {})
      .sort(([a], [b]) => Number(a) - Number(b))
      .map(([, label]) => String(label));
  } catch {
    return []; // the engine reports the invalid file
  }
}

function weightsOf(weights: Record<string, number>, labels: readonly string[], { examples }: TrainingTask): number[] {
  if (examples !== 'labels') throw new PeruseError('unsupported', 'class_weights are for the labels of texts.');
  const unknown = Object.keys(weights).find((label) => !labels.includes(label));
  if (unknown !== undefined)
    throw new PeruseError('invalid_argument', `class_weights names '${unknown}', which is not one of ${labels.join(', ')}.`);
  return labels.map((label) => weights[label] ?? 1);
}
