// An app of somebody who has installed the package.
import { pipeline } from 'peruse';
import { Tokenizer } from 'peruse/tokenizer';
import { work } from './work.js';

globalThis.work = async () => {
  const tokenizer = await Tokenizer.from_pretrained('./models/classifier/');
  return { ...(await work(pipeline)), tokens: tokenizer.count('t1 t2 t3') };
};
