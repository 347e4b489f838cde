// An app of somebody who has installed the package. Options come from its address: ?device=webgpu, say.
import { pipeline } from 'peruse';
import { Tokenizer } from 'peruse/tokenizer';
import { work } from './work.js';

globalThis.work = async () => {
  const tokenizer = await Tokenizer.from_pretrained('./models/classifier/');
  const options = Object.fromEntries(new URLSearchParams(location.search));
  return { ...(await work(pipeline, options)), tokens: tokenizer.count('t1 t2 t3') };
};
