// Zero-leak rate and false alarms of redaction in fifteen languages, on models/everyday_multilingual.txt, with --forms on forms.txt,
// with --clean, --fresh, --choosing, --ordinary, --unseen or --english on the file of that name here:
//   node tests/bench/redaction/multilingual.mjs --model folder [--recall 0.55] [--dtype q8] [--alone] [--wrong] [--forms|...]
// A message leaks if a letter or digit of a detail is left. --alone measures without patterns, --wrong prints what leaks and what is touched.
import { parseArgs } from 'node:util';
import { pipeline } from '../../../web/dist/index_node.js';
import { kChoosing, kClean, kEnglish, kEveryday, kForms, kFresh, kOrdinary, kUnseen, measured } from './everyday.mjs';

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    recall: { type: 'string', default: '0.55' },
    dtype: { type: 'string', default: 'fp32' },
    alone: { type: 'boolean', default: false },
    forms: { type: 'boolean', default: false },
    clean: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
    choosing: { type: 'boolean', default: false },
    ordinary: { type: 'boolean', default: false },
    unseen: { type: 'boolean', default: false },
    english: { type: 'boolean', default: false },
    wrong: { type: 'boolean', default: false },
  },
});

const redact = await pipeline('redact', values.model, { patterns: !values.alone, worker: false, dtype: values.dtype });
const options = { aggregation_strategy: 'average', recall: Number(values.recall) };
const files = { forms: kForms, clean: kClean, fresh: kFresh, choosing: kChoosing, ordinary: kOrdinary, unseen: kUnseen, english: kEnglish };
const [, file] = Object.entries(files).find(([name]) => values[name]) ?? ['', kEveryday];
console.table(await measured(redact, options, values.wrong ? console.log : undefined, file));
await redact.dispose();
