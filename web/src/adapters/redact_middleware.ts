// redactMiddleware of peruse/ai-sdk: the language model receives redacted prompts, and the caller the restored answers.
import type { RedactCall, RedactionSession, RedactOptions } from '../redact/types.js';

/** Settings of redactMiddleware(). */
export interface RedactMiddlewareSettings<V extends string = 'v3'> {
  /** The specification of your version of the AI SDK: 'v1' of AI SDK 4, 'v2' of 5, 'v3' of 6, 'v4' of 7. Default 'v3'. */
  specificationVersion?: V;
  /** Options of every call of the redactor. */
  options?: Omit<RedactOptions, 'mapping' | 'signal'>;
  /** Send files of prompts (images, documents), which cannot be redacted. Default false: a prompt with a file throws. */
  files?: boolean;
}

/** A middleware for wrapLanguageModel(). */
export interface RedactMiddleware<V extends string = 'v3'> {
  readonly specificationVersion: V;
  /** Redacts the prompt, and restores text, reasoning and tool calls of the answer. */
  wrapGenerate<P extends object, R>(call: { params: P; model: { doGenerate(params: P): PromiseLike<R> } }): Promise<R>;
  /** The same for an answer that arrives in pieces. */
  wrapStream<P extends object, R extends { stream: ReadableStream }>(call: {
    params: P;
    model: { doStream(params: P): PromiseLike<R> };
  }): Promise<R>;
}

type Part = Readonly<Record<string, unknown>> & { readonly type?: string };

/**
 * Creates a middleware of a redactor: `createRedactor({ patterns: true })`, or `pipeline('redact', ...)` for names. Each call of the language
 * model is a conversation of its own: equal details of its messages have the same placeholder.
 */
export function redactMiddleware<V extends string = 'v3'>(
  redactor: RedactCall | PromiseLike<RedactCall>,
  { specificationVersion = 'v3' as V, options = {}, files = false }: RedactMiddlewareSettings<V> = {},
): RedactMiddleware<V> {
  const begin = async <P extends object>(params: P) => {
    const session = (await redactor).session();
    const { prompt, abortSignal } = params as { prompt?: unknown; abortSignal?: AbortSignal };
    const redact = async (text: string) => session.redact(text, abortSignal === undefined ? options : { ...options, signal: abortSignal });
    return { session, redacted: { ...params, prompt: await redactedPrompt(prompt, redact, files) } };
  };
  return {
    specificationVersion,
    wrapGenerate: async ({ params, model }) => {
      const { session, redacted } = await begin(params);
      return restoredAnswer(await model.doGenerate(redacted), session);
    },
    wrapStream: async ({ params, model }) => {
      const { session, redacted } = await begin(params);
      const answer = await model.doStream(redacted);
      return { ...answer, stream: (answer.stream as ReadableStream<Part>).pipeThrough(restoring(session)) };
    },
  };
}

/** Messages one after the other, so that placeholders are numbered in the order of the conversation. */
async function redactedPrompt(prompt: unknown, redact: RedactText, files: boolean): Promise<unknown> {
  if (!Array.isArray(prompt)) throw new TypeError('redactMiddleware: the prompt must be a list of messages.');
  const messages: unknown[] = [];
  for (const message of prompt as { content: unknown }[]) {
    const { content } = message;
    if (typeof content === 'string') {
      messages.push({ ...message, content: (await redact(content)).text });
    } else {
      const parts: Part[] = [];
      for (const part of content as Part[]) parts.push(await redactedPart(part, redact, files));
      messages.push({ ...message, content: parts });
    }
  }
  return messages;
}

interface RedactedText {
  text: string;
  entities: readonly { placeholder: string }[];
}
type RedactText = (text: string) => Promise<RedactedText>;

/** Members of parts whose strings are content. 'args' and 'result' are names of AI SDK 4. */
const kContent = ['text', 'input', 'args', 'output', 'result'];

async function redactedPart(part: Part, redact: RedactText, files: boolean): Promise<Part> {
  if (part.type === 'file' || part.type === 'image') {
    if (files) return part;
    throw new TypeError('redactMiddleware: a file in the prompt cannot be redacted. Remove it, or allow it with `files: true`.');
  }
  const changed: Record<string, unknown> = { ...part };
  for (const name of kContent) if (name in part) changed[name] = await redactedValue(part[name], redact);
  return changed;
}

/** Redacts all strings and numbers of a value. Their keys are evidence: { lastName: 'Miller' }. */
async function redactedValue(value: unknown, redact: RedactText, key?: string): Promise<unknown> {
  if (typeof value === 'string') return key === undefined ? (await redact(value)).text : redactedField(key, value, redact);
  if (typeof value === 'number' && key !== undefined) {
    const { entities } = await redact(JSON.stringify({ [key]: value }));
    return entities[0]?.placeholder ?? value;
  }
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) items.push(await redactedValue(item, redact, key));
    return items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const changed: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const isKind = name === 'type' && typeof member === 'string';
    changed[name] = isKind ? member : await redactedValue(member, redact, name);
  }
  return changed;
}

async function redactedField(key: string, value: string, redact: RedactText): Promise<string> {
  const alone = await redact(value);
  const { text } = await redact(JSON.stringify({ [key]: alone.text }));
  try {
    const [found] = Object.values(JSON.parse(text) as Record<string, unknown>);
    return typeof found === 'string' ? found : alone.text;
  } catch {
    return alone.text; // a detail reached over the quotes
  }
}

/** The object in a JSON text, or undefined. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Restores the strings of a value. JSON text (arguments of tools) keeps its members, whatever quotes a detail contains. */
function restored(value: unknown, session: RedactionSession): unknown {
  if (typeof value === 'string') {
    const { text } = session.restore(value);
    const json = text === value ? undefined : parsed(value);
    const written = json === undefined ? undefined : JSON.stringify(restored(json, session));
    return written === undefined || JSON.stringify(parsed(text)) === written ? text : written;
  }
  if (Array.isArray(value)) return value.map((item) => restored(item, session));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [session.restore(name).text, restored(member, session)]));
}

const kAnswer = [...kContent, 'toolCalls', 'reasoning'];

function restoredPart(part: Part, session: RedactionSession): Part {
  const changed: Record<string, unknown> = { ...part };
  for (const name of kAnswer) if (name in part) changed[name] = restored(part[name], session);
  return changed;
}

function restoredAnswer<R>(answer: R, session: RedactionSession): R {
  const { content } = answer as { content?: Part[] };
  if (!Array.isArray(content)) return restoredPart(answer as Part, session) as R; // AI SDK 4
  return { ...answer, content: content.map((part) => restoredPart(part, session)) };
}

/** The member of a piece that holds text, by the piece's type. */
function deltaOf(part: Part): 'delta' | 'textDelta' | 'argsTextDelta' | undefined {
  if (typeof part.delta === 'string') return 'delta';
  if (typeof part.textDelta === 'string') return 'textDelta';
  return typeof part.argsTextDelta === 'string' ? 'argsTextDelta' : undefined;
}

interface OpenText {
  writer: WritableStreamDefaultWriter<string>;
  done: Promise<void>;
}

/** Restores the pieces of an answer. Arguments of tools are held back until they are complete, so that they remain valid JSON. */
function restoring(session: RedactionSession): TransformStream<Part, Part> {
  const texts = new Map<string, OpenText>();
  const tools = new Map<string, { part: Part; text: string }>();
  type Controller = TransformStreamDefaultController<Part>;
  const open = (part: Part, name: string, controller: Controller): OpenText => {
    const { readable, writable } = session.restoreStream();
    const sink = new WritableStream<string>({ write: (text) => controller.enqueue({ ...part, [name]: text }) });
    return { writer: writable.getWriter(), done: readable.pipeTo(sink) };
  };
  const close = async (key: string) => {
    const text = texts.get(key);
    texts.delete(key);
    await text?.writer.close();
    await text?.done;
  };
  const closeTool = (key: string, controller: Controller) => {
    const tool = tools.get(key);
    tools.delete(key);
    if (tool !== undefined) controller.enqueue({ ...tool.part, [deltaOf(tool.part)!]: restored(tool.text, session) });
  };
  return new TransformStream<Part, Part>({
    async transform(part, controller) {
      const name = deltaOf(part);
      const kind = (part.type ?? '').replace(/-(?:start|delta|end)$/, '');
      const key = `${kind} ${String(part.id ?? part.toolCallId ?? '')}`;
      if (name !== undefined && /^tool/.test(kind)) {
        tools.set(key, { part, text: (tools.get(key)?.text ?? '') + (part[name] as string) });
      } else if (name !== undefined) {
        if (!texts.has(key)) texts.set(key, open(part, name, controller));
        await texts.get(key)!.writer.write(part[name] as string);
      } else {
        const ended = (one: string) =>
          /-end$/.test(part.type ?? '') ? one === key : ['tool-call', 'finish', 'error'].includes(part.type ?? '');
        for (const one of [...texts.keys()]) if (ended(one)) await close(one);
        for (const one of [...tools.keys()]) if (ended(one)) closeTool(one, controller);
        controller.enqueue(restoredPart(part, session));
      }
    },
    async flush(controller) {
      for (const key of [...texts.keys()]) await close(key);
      for (const key of [...tools.keys()]) closeTool(key, controller);
    },
  });
}
