import { PeruseError } from '../errors.js';
import { modelCache } from '../model_cache.js';
import { type Command, text, UsageError } from './command.js';
import { jsonLine } from './io.js';

export const cache: Command = {
  summary: 'List, check or remove cached model files',
  usage: '[list | verify | remove <model> | clear]',
  details: 'The cache is the folder peruse/models in $XDG_CACHE_HOME or ~/.cache.',
  options: {
    repair: { type: 'boolean', help: 'with verify: remove damaged files' },
    revision: { type: 'string', value: 'name', help: 'remove only this revision of a hub id (all)' },
  },
  async run([verb = 'list', model, ...rest], values, io) {
    if (rest.length > 0 || (model !== undefined && verb !== 'remove')) throw new UsageError(`'${rest[0] ?? model}' is too much`);
    if (verb === 'list') {
      for (const { url, bytes, storedAt } of await modelCache.list()) io.out(jsonLine({ url, bytes, stored_at: storedAt.toISOString() }));
    } else if (verb === 'clear') {
      io.out(jsonLine({ removed: await modelCache.clear() }));
    } else if (verb === 'remove') {
      if (model === undefined) throw new UsageError('<model> is missing');
      io.out(jsonLine({ removed: await modelCache.delete(model, { revision: text(values, 'revision') }) }));
    } else if (verb === 'verify') {
      const { damaged, ...counts } = await modelCache.verify({ repair: values.repair === true });
      for (const one of damaged) io.out(jsonLine(one));
      io.out(jsonLine(counts));
      if (damaged.length > 0 && values.repair !== true)
        throw new PeruseError('malformed_file', 'Damaged files were found; --repair removes them.');
    } else {
      throw new UsageError(`there is no '${verb}'; there are list, verify, remove and clear`);
    }
  },
};
