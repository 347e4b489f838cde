import { convert, quantize, shrink, trim } from 'peruse/models';
import { teach } from 'peruse/teach';
import { Tokenizer } from 'peruse/tokenizer';
import { PeruseError, pipeline, type PipelineOptions, SemanticIndex } from 'peruse';

export const unused = [SemanticIndex, convert, quantize, shrink, trim, teach];

export async function label(text: string, options: PipelineOptions): Promise<string> {
  const classify = await pipeline('text-classification', 'user/model', options);
  const [first] = await classify(text);
  const tokenizer: Tokenizer = await Tokenizer.from_pretrained('user/model');
  const wrong: PeruseError = new PeruseError('not_found', `${tokenizer.count(text)}`);
  return first?.label ?? wrong.code;
}
