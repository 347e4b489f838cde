import { answer } from './answer.js';
import { cache } from './cache.js';
import { classify } from './classify.js';
import type { Command } from './command.js';
import { convert } from './convert.js';
import { copyFiles } from './copy_files.js';
import { embed } from './embed.js';
import { evaluate } from './evaluate.js';
import { indexFiles } from './index_files.js';
import { inspect } from './inspect.js';
import { pretrain } from './pretrain.js';
import { quantize } from './quantize.js';
import { rank } from './rank.js';
import { redact } from './redact.js';
import { serveDemo } from './serve_demo.js';
import { shrink } from './shrink.js';
import { tag } from './tag.js';
import { teach } from './teach.js';
import { trim } from './trim.js';

export const kCommands: Record<string, Command> = {
  classify,
  answer,
  tag,
  redact,
  rank,
  embed,
  evaluate,
  index: indexFiles,
  teach,
  pretrain,
  inspect,
  cache,
  'serve-demo': serveDemo,
  'copy-files': copyFiles,
  quantize,
  convert,
  trim,
  shrink,
};
