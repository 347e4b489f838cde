import { readFile } from 'node:fs/promises';
import { type Files, readTensors, tinyModel } from './tiny.js';

const kFixtures = new URL('../../fixtures/', import.meta.url);

export async function readTiny(name: string): Promise<{ files: Files; expected: ReturnType<typeof readTensors> }> {
  const read = (file: string) => readFile(new URL(`tiny/${name}/${file}`, kFixtures)).then((buffer) => new Uint8Array(buffer));
  const [config, weights, expected] = await Promise.all(['config.json', 'model.safetensors', 'expected.safetensors'].map(read));
  return { files: tinyModel(config!, weights!), expected: readTensors(expected!) };
}
