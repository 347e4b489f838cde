import { env, PeruseError, type Pipeline, type PipelineOptions, pipeline, SemanticIndex } from 'peruse';
import { embeddingModel } from 'peruse/ai-sdk';
import { PeruseEmbeddingFunction } from 'peruse/chroma';
import { pipeline as inlinePipeline } from 'peruse/inline';
import { isolate } from 'peruse/isolate';
import { convert, quantize, shrink, trim } from 'peruse/models';
import { peruseEmbeddings } from 'peruse/orama';
import { usePipeline } from 'peruse/react';
import { pipeline as serviceWorkerPipeline } from 'peruse/service-worker';
import { teach } from 'peruse/teach';
import { Tokenizer } from 'peruse/tokenizer';

export const unused = [env, SemanticIndex, inlinePipeline, convert, isolate, quantize, shrink, trim, serviceWorkerPipeline, teach];
export const adapters = [embeddingModel, PeruseEmbeddingFunction, peruseEmbeddings, usePipeline];

export async function label(text: string, options: PipelineOptions): Promise<string> {
  const classify: Pipeline<'text-classification'> = await pipeline('text-classification', 'user/model', options);
  const [first] = await classify(text);
  const tokenizer: Tokenizer = await Tokenizer.from_pretrained('user/model');
  const wrong = new PeruseError('not_found', `${tokenizer.count(text)}`);
  const same: PeruseError = wrong;
  return first?.label ?? same.code;
}

// @ts-expect-error: the types are there, so a mistake is found.
void pipeline('no such task', 42);
