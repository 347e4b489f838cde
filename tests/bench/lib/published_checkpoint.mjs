// The weights of all-MiniLM-L6-v2 as a shape: with the names of a BERT that has a head, and a head of random weights.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPublishedModels, publishedModels } from '../../../tools/setup/published_models.mjs';
import { checkpointChunks, readTensors, tensorsOf, writeTensors } from './checkpoint.mjs';

export function* publishedChunks(config) {
  if (!publishedModels()) installPublishedModels();
  const published = readTensors(readFileSync(join(publishedModels().minilm, 'model.safetensors')));
  const random = readTensors(Buffer.concat([...checkpointChunks(config)]));
  const tensors = tensorsOf(config).map(({ name, shape }) => {
    const found = published.get(name.replace(/^bert\./, '')) ?? random.get(name);
    return { name, shape, bytes: found };
  });
  yield* writeTensors(tensors);
}
