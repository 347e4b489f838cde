import { env } from '../env.js';
import type { RewriteOptions } from '../quantize/rewrite_checkpoint.js';
import { flag, needed, type Options, text, UsageError, type Values } from './command.js';
import type { Io } from './io.js';
import { explainModel, kModelOptions } from './model_options.js';
import { jsonLine, printable } from './printable.js';
import { ProgressBar } from './progress_bar.js';

const { revision, token, offline, 'no-cache': noCache } = kModelOptions;

export const kRewriteOptions: Options = {
  revision: revision!,
  token: token!,
  offline: offline!,
  'no-cache': noCache!,
  overwrite: { type: 'boolean', help: 'replace a model in the folder' },
};

export async function withRewriting(
  rewrite: (model: string, folder: string, options: RewriteOptions) => Promise<object>,
  positionals: string[],
  values: Values,
  io: Io,
): Promise<void> {
  const [model, folder, ...rest] = needed(positionals, ['model', 'folder']);
  if (rest.length > 0) throw new UsageError(`'${rest[0]}' is one argument too many`);
  if (flag(values, 'no-cache')) env.cache = false;
  const bar = io.errIsTty ? new ProgressBar(io) : undefined;
  try {
    const report = await rewrite(model, folder, {
      revision: text(values, 'revision'),
      token: text(values, 'token') ?? io.environment.HF_TOKEN,
      offline: flag(values, 'offline'),
      overwrite: flag(values, 'overwrite'),
      progress_callback: (progress) => bar?.show(progress),
    });
    const { notices = [], ...rest } = report as { notices?: readonly string[] };
    bar?.clear();
    for (const notice of notices) io.err(`${printable(notice)}\n`);
    io.out(jsonLine({ folder, ...rest }));
  } catch (error) {
    throw explainModel(error, [model]);
  } finally {
    bar?.clear();
  }
}
