// Replays the engine's command streams on a GPUDevice, in a browser or, with Dawn, in Node.
// A run is one pass, one submit and one readback. Shaders, pipelines, buffers and bind groups are cached. Pipelines compile in parallel
// as soon as the stream names them; a run waits for those that it needs.
import { describeError, PeruseError } from '../errors.js';
import { gpuFailure, PipelineCache } from './device.js';
import { type Dispatch, readCommands, type StreamSpan } from './stream.js';

const kParameterSlot = 256; // bytes; the default of minUniformBufferOffsetAlignment
const kBindGroupsKept = 8192;
// WebGPU's constants, which are not globals in Node.
const kUsage = { mapRead: 0x1, copySource: 0x4, copyDestination: 0x8, uniform: 0x40, storage: 0x80 };
const kMapRead = 0x1;

interface Download {
  id: number;
  bytes: number;
  address: number;
}

export interface GpuCounts {
  buffers: number;
  bufferBytes: number;
  bindGroups: number;
  submits: number;
  dispatches: number;
}

export class GpuExecutor {
  readonly counts: GpuCounts = { buffers: 0, bufferBytes: 0, bindGroups: 0, submits: 0, dispatches: 0 };
  private readonly shaders_ = new Map<number, string>();
  private readonly compiling_ = new Map<number, Promise<GPUComputePipeline>>();
  private readonly pipelines_ = new Map<number, GPUComputePipeline>();
  private readonly buffers_ = new Map<number, GPUBuffer>();
  private readonly bindGroups_ = new Map<string, GPUBindGroup>();
  private parameters_: GPUBuffer | undefined;
  private staging_: GPUBuffer | undefined;
  private failure_: PeruseError | undefined;
  /** Resolves when the device is lost or the executor is disposed: promises of the device may then never settle. */
  private readonly end_: Promise<PeruseError>;
  private endWith_: (error: PeruseError) => void = () => undefined;

  /** Executors of one device may share its pipelines. The caller owns the device. */
  constructor(
    private readonly device_: GPUDevice,
    private readonly cache_: PipelineCache = new PipelineCache(device_),
  ) {
    this.end_ = new Promise((resolve) => {
      this.endWith_ = resolve;
    });
    device_.lost.then(
      (info) => {
        this.end(lostError(info));
      },
      () => undefined,
    );
  }

  /** Replays a stream, including downloads. Throws 'gpu_lost', 'out_of_memory' or 'gpu_failed'; the executor is then unusable. */
  async replay(memory: () => Uint8Array, span: StreamSpan): Promise<void> {
    if (this.failure_ !== undefined) throw this.failure_;
    const replayed = this.replayCommands(memory, span).catch((error: unknown) => this.explain(error));
    this.failure_ ??= (await Promise.race([replayed, this.end_])) ?? undefined;
    if (this.failure_ !== undefined) throw this.failure_;
  }

  get failure(): PeruseError | undefined {
    return this.failure_;
  }

  dispose(): void {
    this.end(new PeruseError('aborted', 'The pipeline was disposed of.'));
    for (const buffer of [...this.buffers_.values(), this.parameters_, this.staging_]) buffer?.destroy();
    this.buffers_.clear();
    this.bindGroups_.clear();
  }

  private end(error: PeruseError): void {
    this.failure_ ??= error;
    this.endWith_(error);
  }

  private async replayCommands(memory: () => Uint8Array, span: StreamSpan): Promise<void> {
    let dispatches: Dispatch[] = [];
    let downloads: Download[] = [];
    const made = this.counts.buffers;
    this.device_.pushErrorScope('out-of-memory');
    this.device_.pushErrorScope('validation');
    let refused: GPUError | null = null;
    try {
      for (const command of readCommands(memory, span)) {
        switch (command.kind) {
          case 'shader':
            this.shaders_.set(command.id, command.text);
            break;
          case 'pipeline':
            this.compile(command.id, command.shader, command.constants);
            break;
          case 'buffer':
            this.buffers_.set(command.id, this.makeBuffer(command.bytes, kUsage.storage | kUsage.copySource | kUsage.copyDestination));
            break;
          case 'free':
            this.free(command.id);
            break;
          case 'write':
            this.device_.queue.writeBuffer(this.buffer(command.id), command.offset, command.bytes as Uint8Array<ArrayBuffer>);
            break;
          case 'dispatch':
            dispatches.push(command.dispatch);
            break;
          case 'download':
            downloads.push(command);
            break;
          case 'submit':
            await this.run(memory, dispatches, downloads);
            [dispatches, downloads] = [[], []];
            break;
          case 'begin':
            [dispatches, downloads] = [[], []];
            break;
        }
      }
    } finally {
      // A lost device rejects both promises; awaiting them one by one would leave one rejection unhandled.
      const [validation, memoryError] = await Promise.all([this.device_.popErrorScope(), this.device_.popErrorScope()]);
      refused = memoryError ?? validation;
    }
    if (refused !== null) throw gpuFailure(refused, made === this.counts.buffers ? undefined : this.counts.bufferBytes);
  }

  private compile(id: number, shader: number, constants: Record<string, number>): void {
    const text = this.shaders_.get(shader);
    if (text === undefined) throw new Error(`GPU commands: there is no shader ${shader}`);
    this.compiling_.set(id, this.cache_.get(text, constants));
  }

  private async run(memory: () => Uint8Array, dispatches: Dispatch[], downloads: Download[]): Promise<void> {
    await this.awaitPipelines(dispatches);
    this.goOn();
    const parameters = this.uploadParameters(dispatches);
    const encoder = this.device_.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const [index, dispatch] of dispatches.entries()) {
      const pipeline = this.pipelines_.get(dispatch.pipeline);
      if (pipeline === undefined) throw new Error(`GPU commands: there is no pipeline ${dispatch.pipeline}`);
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, this.bindGroup(pipeline, dispatch, parameters, index));
      pass.dispatchWorkgroups(...dispatch.grid);
    }
    pass.end();
    const staging = this.stage(encoder, downloads);
    this.device_.queue.submit([encoder.finish()]);
    this.counts.submits++;
    this.counts.dispatches += dispatches.length;
    if (staging !== undefined) await this.readBack(staging, memory, downloads);
  }

  /** Throws if the executor has failed or was disposed of. Call it after every await, before using the device or the engine's memory. */
  private goOn(): void {
    if (this.failure_ !== undefined) throw this.failure_;
  }

  private async awaitPipelines(dispatches: Dispatch[]): Promise<void> {
    const needed = new Set(dispatches.map((dispatch) => dispatch.pipeline));
    await Promise.all(
      [...needed].map(async (id) => {
        const compiling = this.compiling_.get(id);
        if (compiling === undefined) return;
        this.pipelines_.set(id, await compiling);
        this.compiling_.delete(id);
      }),
    );
  }

  private uploadParameters(dispatches: Dispatch[]): GPUBuffer {
    const bytes = Math.max(dispatches.length, 1) * kParameterSlot;
    if (this.parameters_ === undefined || this.parameters_.size < bytes) {
      this.parameters_?.destroy();
      this.bindGroups_.clear();
      this.parameters_ = this.makeBuffer(2 * bytes, kUsage.uniform | kUsage.copyDestination);
    }
    const words = new Uint32Array(bytes / 4);
    for (const [index, dispatch] of dispatches.entries()) words.set(dispatch.parameters, (index * kParameterSlot) / 4);
    this.device_.queue.writeBuffer(this.parameters_, 0, words);
    return this.parameters_;
  }

  private bindGroup(pipeline: GPUComputePipeline, dispatch: Dispatch, parameters: GPUBuffer, index: number): GPUBindGroup {
    const key = `${dispatch.pipeline} ${index} ${dispatch.buffers.join(' ')}`;
    const known = this.bindGroups_.get(key);
    if (known !== undefined) return known;
    if (this.bindGroups_.size >= kBindGroupsKept) this.bindGroups_.clear();
    const made = this.device_.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [
        { binding: 0, resource: { buffer: parameters, offset: index * kParameterSlot, size: kParameterSlot } },
        ...dispatch.buffers.map((id, i) => ({ binding: i + 1, resource: { buffer: this.buffer(id) } })),
      ],
    });
    this.bindGroups_.set(key, made);
    this.counts.bindGroups++;
    return made;
  }

  private stage(encoder: GPUCommandEncoder, downloads: Download[]): GPUBuffer | undefined {
    const bytes = downloads.reduce((sum, download) => sum + download.bytes, 0);
    if (bytes === 0) return undefined;
    if (this.staging_ === undefined || this.staging_.size < bytes) {
      this.staging_?.destroy();
      this.staging_ = this.makeBuffer(2 ** Math.ceil(Math.log2(bytes)), kUsage.mapRead | kUsage.copyDestination);
    }
    let offset = 0;
    for (const download of downloads) {
      encoder.copyBufferToBuffer(this.buffer(download.id), 0, this.staging_, offset, download.bytes);
      offset += download.bytes;
    }
    return this.staging_;
  }

  private async readBack(staging: GPUBuffer, memory: () => Uint8Array, downloads: Download[]): Promise<void> {
    const bytes = downloads.reduce((sum, download) => sum + download.bytes, 0);
    await staging.mapAsync(kMapRead, 0, bytes);
    this.goOn();
    try {
      const mapped = new Uint8Array(staging.getMappedRange(0, bytes));
      let offset = 0;
      for (const download of downloads) {
        memory().set(mapped.subarray(offset, offset + download.bytes), download.address);
        offset += download.bytes;
      }
    } finally {
      staging.unmap();
    }
  }

  private makeBuffer(bytes: number, usage: number): GPUBuffer {
    const buffer = createBuffer(this.device_, { size: bytes, usage });
    this.counts.buffers++;
    this.counts.bufferBytes += bytes;
    return buffer;
  }

  private buffer(id: number): GPUBuffer {
    const buffer = this.buffers_.get(id);
    if (buffer === undefined) throw new Error(`GPU commands: there is no buffer ${id}`);
    return buffer;
  }

  private free(id: number): void {
    this.counts.bufferBytes -= this.buffer(id).size;
    this.buffer(id).destroy();
    this.buffers_.delete(id);
    this.bindGroups_.clear();
  }

  /** Returns the reason for an error. Waits for the report of a lost device, which comes a little after the failed call. */
  private async explain(error: unknown): Promise<PeruseError> {
    const ended = await Promise.race([
      this.end_,
      new Promise<undefined>((resolve) =>
        setTimeout(() => {
          resolve(undefined);
        }, 100),
      ),
    ]);
    if (ended !== undefined) return ended;
    if (error instanceof PeruseError) return error;
    return new PeruseError('gpu_failed', `The GPU's driver rejected a shader or a command: ${describeError(error)}.`, { cause: error });
  }
}

/** Some drivers throw where others report an error to the error scope. */
function createBuffer(device: GPUDevice, wanted: GPUBufferDescriptor): GPUBuffer {
  try {
    return device.createBuffer(wanted);
  } catch (error) {
    const message = `The GPU has no memory for a buffer of ${wanted.size} bytes: ${describeError(error)}`;
    throw new PeruseError('out_of_memory', message, { cause: error });
  }
}

function lostError(info: GPUDeviceLostInfo): PeruseError {
  const why = info.message === '' ? (info.reason ?? 'no reason given') : info.message;
  return new PeruseError('gpu_lost', `The GPU device was lost (${why}).`);
}
