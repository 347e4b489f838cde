// ONNX files of tiny checkpoints, with onnxruntime's results (tests/reference/make_onnx_files.py).
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Files } from './tiny.js';
import { readTiny } from './tiny_files.js';

export const kOnnxFixtures = fileURLToPath(new URL('../../fixtures/onnx/', import.meta.url));

export interface ExpectedResults {
  ids: number[];
  /** By "case/file.onnx". `weights` are the first values of some matrices. */
  files: Record<string, { logits: number[]; weights?: Record<string, number[]> }>;
}

export async function readExpected(root = kOnnxFixtures): Promise<ExpectedResults> {
  return JSON.parse(await readFile(join(root, 'expected.json'), 'utf8')) as ExpectedResults;
}

/** Returns the file and its external data. */
export async function onnxFiles(name: string, root = kOnnxFixtures): Promise<Files> {
  const [folder, file] = name.split('/') as [string, string];
  const names = (await readdir(join(root, folder))).filter((one) => one.startsWith(file));
  return Object.fromEntries(await Promise.all(names.map(async (one) => [one, new Uint8Array(await readFile(join(root, folder, one)))])));
}

/** Returns a repository with the file under another name, and without safetensors. */
export async function onnxRepository(name: string, as = 'model.onnx', root = kOnnxFixtures): Promise<Files> {
  const [folder, own] = name.split('/') as [string, string];
  const { 'model.safetensors': _, ...rest } = (await readTiny(folder)).files;
  const files = Object.entries(await onnxFiles(name, root)).map(([file, content]) => [`onnx/${file.replace(own, as)}`, content]);
  return { ...rest, ...Object.fromEntries(files) };
}
