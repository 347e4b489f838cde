// The tiny checkpoints of tests/fixtures/pipelines as whole models with real vocabularies.
import { readFile } from 'node:fs/promises';
import { type Files, joinSafetensors, splitSafetensors, type TensorEntry } from './tiny.js';

const kFixtures = new URL('../../fixtures/', import.meta.url);

const read = async (path: string) => new Uint8Array(await readFile(new URL(path, kFixtures)));
const toBytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

export async function readFixture<T>(path: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await read(path))) as T;
}

function merge(parts: Uint8Array[]): Uint8Array {
  const header: Record<string, TensorEntry> = {};
  const bodies: Uint8Array[] = [];
  let offset = 0;
  for (const part of parts.map(splitSafetensors)) {
    for (const [name, entry] of Object.entries(part.header)) {
      if (name === '__metadata__') continue;
      header[name] = { ...entry, data_offsets: [entry.data_offsets[0] + offset, entry.data_offsets[1] + offset] };
    }
    bodies.push(part.body);
    offset += part.body.length;
  }
  return joinSafetensors(header, Buffer.concat(bodies));
}

export async function pipelineModel(family: string, head: string, changes: object = {}): Promise<Files> {
  const { files: vocabulary } = await readFixture<{ files: Record<string, string> }>(`pipelines/${family}/cases.json`);
  const config = { ...(await readFixture<object>(`pipelines/${family}/${head}.config.json`)), ...changes };
  const weights = [await read(`pipelines/${family}/base.safetensors`)];
  const ofHead = await read(`pipelines/${family}/${head}.safetensors`).catch(() => undefined);
  if (ofHead) weights.push(ofHead);
  const files: Files = {
    'config.json': toBytes(config),
    'model.safetensors': merge(weights),
    'tokenizer_config.json': toBytes({ model_max_length: 96 }),
  };
  for (const [name, path] of Object.entries(vocabulary)) files[name] = await read(path);
  return files;
}
