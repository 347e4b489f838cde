// Hostile arguments: values of every type for every option in the package's types.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { env, pipeline } from '../../../web/dist/index_node.js';
import { kRoot, tinyModels } from '../lib/models.mjs';
import { Finding, outcome } from '../lib/outcome.mjs';

export async function run({ random, timeLeft, begin, count }) {
  const options = optionTypes();
  const models = tinyModels();
  count(
    'option types',
    Object.values(options).reduce((sum, one) => sum + Object.keys(one).length, 0),
  );
  for (let round = 0; timeLeft(); ++round) {
    const model = random.pick(models);
    const worker = random.chance(0.2);
    const pipe = await pipeline(model.task, model.files, { worker });
    const own = options[interfaceOf(model.task)] ?? {};
    for (let i = 0; i < 60 && timeLeft(); ++i) {
      const given = drawOptions({ ...own, ...options.CallOptions }, random);
      begin(`round ${round}, call ${i} of ${model.name}: ${printable(given)}`);
      count(await outcome(random.chance(0.5) ? model.call(pipe, given) : pipe(...drawArguments(random))));
      if (i % 10 === 0 && (await outcome(model.call(pipe, {}))) !== 'ok') throw new Finding('the next call fails');
    }
    begin(`round ${round}: inspect`);
    count(await outcome(pipe.inspect(drawText(random), drawOptions(options.InspectOptions, random))));
    await pipe.dispose();
    const given = drawOptions(options.PipelineOptions, random);
    begin(`round ${round}: load with ${printable(given)}`);
    env.offline = true;
    count(await outcome(load(model.task, random.chance(0.8) ? model.files : hostile(random), given), { allow: [] }));
  }
}

async function load(task, source, given) {
  const pipe = await pipeline(task, source, given);
  await pipe.dispose();
}

function interfaceOf(task) {
  return `${task.replace(/(^|-)(.)/g, (_, __, letter) => letter.toUpperCase())}Options`;
}

/** { interface: { option: its type as text } }, from the package's declarations. */
function optionTypes() {
  const dist = join(kRoot, 'web/dist');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.d.ts'));
  const found = {};
  const visit = (node) => {
    if (ts.isInterfaceDeclaration(node) && /Options$|^VariantWish$/.test(node.name.text)) {
      found[node.name.text] = Object.fromEntries(
        node.members.filter(ts.isPropertySignature).map((one) => [one.name.getText(), one.type?.getText() ?? 'unknown']),
      );
    }
    ts.forEachChild(node, visit);
  };
  for (const name of files) {
    const path = join(dist, name);
    ts.forEachChild(ts.createSourceFile(path, ts.sys.readFile(path), ts.ScriptTarget.Latest, true), visit);
  }
  Object.assign(found.PipelineOptions, found.SourceOptions, found.VariantWish);
  return found;
}

function drawOptions(types, random) {
  if (random.chance(0.05)) return hostile(random);
  const names = Object.keys(types);
  const given = {};
  for (let n = random.below(4); n >= 0; --n) {
    const name = random.chance(0.05) ? 'nonsense' : random.pick(names);
    given[name] = random.chance(0.5) ? near(types[name] ?? 'unknown', random) : hostile(random);
  }
  return given;
}

function near(type, random) {
  const literals = [...type.matchAll(/'([^']*)'/g)].map(([, text]) => text);
  if (literals.length > 0 && random.chance(0.6)) return random.pick(literals);
  if (/boolean/.test(type) && random.chance(0.7)) return random.chance(0.5);
  if (/number/.test(type)) return random.pick([0, 1, 2, 3, 5, -1, 0.5, 1e9, 2 ** 31, -(2 ** 53), Number.MAX_VALUE, Number.MIN_VALUE]);
  if (/string\[\]/.test(type)) return Array.from({ length: random.below(5) }, () => drawText(random));
  if (/AbortSignal/.test(type)) return random.chance(0.5) ? AbortSignal.abort() : AbortSignal.timeout(random.below(20));
  return drawText(random);
}

const boom = () => {
  throw new RangeError('boom');
};

function hostile(random) {
  const cyclic = {};
  cyclic.self = cyclic;
  return random.pick([
    () => null,
    () => undefined,
    () => Number.NaN,
    () => Number.POSITIVE_INFINITY,
    () => -0,
    () => 10n ** 30n,
    () => Symbol('s'),
    () => boom,
    () => async () => boom(),
    () => cyclic,
    () => ({ toJSON: boom }),
    () => Object.defineProperty({}, 'text', { get: boom, enumerable: true }),
    () => Object.create(null),
    () => ({ toString: boom, [Symbol.toPrimitive]: boom }),
    () => new Proxy({}, { get: boom, has: boom, ownKeys: boom, getPrototypeOf: boom }),
    () => new Proxy([], { get: boom }),
    () => ({ aborted: true }),
    () => ({ aborted: false, addEventListener: boom, removeEventListener: boom }),
    () => new Date(Number.NaN),
    () => new Map([[{}, {}]]),
    () => new Uint8Array(new SharedArrayBuffer(8)),
    () => Array(1000).fill('x'),
    () => [[['x']]],
    () => 'x'.repeat(random.below(5000)),
    () => ({ __proto__: { text: 'x' } }),
    () => JSON.parse('{"__proto__":{"text":"x"}}'),
    () => true,
    () => '',
  ])();
}

function drawArguments(random) {
  return Array.from({ length: random.below(4) }, () => (random.chance(0.5) ? drawText(random) : hostile(random)));
}

function drawText(random) {
  const letters = [
    't1 ',
    't2',
    ' ',
    '\n',
    '\u0000',
    '\ud800',
    '\udc00',
    '\u202e',
    '\u0301',
    '\ufeff',
    '\u{1f469}\u200d\u{1f680}',
    '[MASK]',
    '[CLS]',
    '{}',
    '<unk>',
    'a',
  ];
  return Array.from({ length: random.below(60) }, () => random.pick(letters)).join('');
}

function printable(given) {
  try {
    return Object.entries(given ?? {})
      .map(([name, value]) => `${name}: ${typeof value}`)
      .join(', ');
  } catch {
    return 'something that can not be printed';
  }
}
