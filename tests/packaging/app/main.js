// An app that uses the installed package, with options from the page's address, for example ?device=webgpu.
import { pipeline } from 'peruse';
import { Tokenizer } from 'peruse/tokenizer';
import { work } from './work.js';

globalThis.work = async () => {
  const tokenizer = await Tokenizer.from_pretrained('./models/classifier/');
  const options = Object.fromEntries(new URLSearchParams(location.search));
  return { ...(await work(pipeline, options)), tokens: tokenizer.count('t1 t2 t3') };
};
