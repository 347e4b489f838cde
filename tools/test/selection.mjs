import { parseArgs } from 'node:util';
import { capture } from '../setup/exec.mjs';
import { root } from '../setup/root.mjs';
import { kReadByAll, kReadByNone, kSuites } from './suites.mjs';

export const kUsage = `npm test -- [options]            runs the fast tier; npm run test:all runs every suite
  --list                         shows the suites and their times
  --only <suite,suite,...>       runs these suites
  --tier fast|all                runs this tier
  --changed [commit]             runs the suites of the tier that changes since the commit (HEAD by default) can affect
  --check-times                  fails if a suite takes more than twice its usual processor time
  --minutes <n>                  leaves out, and names, suites outside of the fast tier that would end later than this: for CI with a time limit`;

export function readOptions(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string' },
      tier: { type: 'string' },
      changed: { type: 'boolean', default: false },
      'check-times': { type: 'boolean', default: false },
      minutes: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return { help: true };
  if (positionals.length > (values.changed ? 1 : 0)) throw new Error(`Unknown argument '${positionals.at(-1)}'.\n${kUsage}`);
  if (values.only && (values.tier || values.changed)) throw new Error('--only names the suites; leave --tier and --changed out');
  const minutes = Number(values.minutes ?? Infinity);
  if (!(minutes > 0)) throw new Error(`--minutes needs a number above 0, not '${values.minutes}'`);
  const tier = values.tier ?? 'fast';
  if (!['fast', 'all'].includes(tier)) throw new Error(`Unknown tier '${tier}'. Use 'fast' or 'all'.`);
  let suites = values.only ? named(values.only.split(',')) : ofTier(tier);
  if (values.changed) suites = affectedSuites(changedPaths(positionals[0] ?? 'HEAD'), suites);
  return { list: values.list, checkTimes: values['check-times'], minutes, suites };
}

export function ofTier(tier) {
  return kSuites.filter((suite) => tier === 'all' || suite.tier === tier);
}

function named(names) {
  const unknown = names.find((name) => !kSuites.some((suite) => suite.name === name));
  if (unknown !== undefined) throw new Error(`Unknown suite '${unknown}'. Suites: ${kSuites.map(({ name }) => name).join(', ')}.`);
  return kSuites.filter(({ name }) => names.includes(name));
}

/** Paths that differ from the last common commit with `commit`, with untracked ones. */
function changedPaths(commit) {
  const git = (...args) => capture('git', args, { cwd: root }).split('\n').filter(Boolean);
  const [base] = git('merge-base', commit, 'HEAD');
  return [...git('diff', '--name-only', '--no-renames', base), ...git('ls-files', '--others', '--exclude-standard')];
}

const isBelow = (path, prefixes) => prefixes.some((prefix) => path.startsWith(prefix));

export function isKnown(path) {
  return isBelow(path, [...kReadByAll, ...kReadByNone]) || kSuites.some(({ reads }) => isBelow(path, reads));
}

/** The suites whose result depends on these paths. Unknown paths affect every suite. */
export function affectedSuites(paths, suites) {
  const read = paths.filter((path) => !isBelow(path, kReadByNone));
  if (read.some((path) => isBelow(path, kReadByAll) || !isKnown(path))) return suites;
  return suites.filter(({ reads }) => read.some((path) => isBelow(path, reads)));
}
