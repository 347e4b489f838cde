#!/usr/bin/env node
// Changes single places of web/src and core, and looks whether the tests that cover them fail: npm run test:mutants -- [options]
//   --web 60, --core 60    number of places; 0 leaves a part out
//   --seed 1               chooses the places
//   --tests 'cache load'   web: only test files whose path contains one of the words
//   --at-once 2            mutants that are tried at the same time; by default the number of processors
//   --fresh                forgets what earlier runs found
// A change that no test notices survives: read the line, and add a test or remove the code. Takes up to an hour on two cores. A run that was stopped
// goes on where it was, and after tests have changed, only what survived is tried again.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { coreMutants } from './mutants/core.mjs';
import { webMutants } from './mutants/web.mjs';
import { runAsProgram } from './setup/main_module.mjs';

/** Prints what became of the mutants. Returns whether at least 90 % were killed. */
function report(part, mutants) {
  const survivors = mutants.filter(({ fate }) => fate === 'survived' || fate === 'not covered');
  for (const { where, change, fate } of survivors) console.log(`${fate}: ${where}: ${change}`);
  const killed = mutants.length - survivors.length;
  console.log(`${part}: ${killed} of ${mutants.length} killed (${((100 * killed) / mutants.length).toFixed(0)} %)`);
  return killed >= 0.9 * mutants.length;
}

await runAsProgram(import.meta.url, async () => {
  const text = (value) => ({ type: 'string', default: value });
  const options = { web: text('60'), core: text('60'), seed: text('1'), 'at-once': text(`${availableParallelism()}`), tests: text('') };
  const { values } = parseArgs({ options: { ...options, fresh: { type: 'boolean', default: false } } });
  const [web, core, seed, atOnce] = [values.web, values.core, values.seed, values['at-once']].map(Number);
  if (![web, core, seed, atOnce].every(Number.isSafeInteger)) throw new Error('--web, --core, --seed and --at-once take whole numbers');
  const words = values.tests.split(' ').filter((word) => word !== '');
  const good = [];
  if (web > 0) good.push(report('web/src', await webMutants(web, seed, words, { fresh: values.fresh, atOnce })));
  if (core > 0) good.push(report('core', await coreMutants(core, seed, { fresh: values.fresh, atOnce })));
  process.exitCode = good.every(Boolean) ? 0 : 1;
});
