import { type Files, readTensors, tinyModel } from '../node/support/tiny.js';

export async function fetchTiny(name: string): Promise<{ files: Files; expected: ReturnType<typeof readTensors> }> {
  const [config, weights, expected] = await Promise.all(
    ['config.json', 'model.safetensors', 'expected.safetensors'].map(async (file) => {
      const response = await fetch(`/tests/fixtures/tiny/${name}/${file}`);
      return new Uint8Array(await response.arrayBuffer());
    }),
  );
  return { files: tinyModel(config!, weights!), expected: readTensors(expected!) };
}
