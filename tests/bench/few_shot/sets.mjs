// The labelled texts that the few-shot tools draw from: { text, label } by set and part. A set of the table is never used to choose a default:
// that is what the sets of kDevelopment are for, which have other labels or other texts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const unpack = (folder, name) => gunzipSync(readFileSync(join(folder, name))).toString();
const lines = (folder, name) =>
  unpack(folder, name)
    .split('\n')
    .filter((line) => line !== '');
const rows = (folder, name) => lines(folder, name).map((line) => line.split('\t'));

/** Makes the part 'dev' for a data set without one: every fifth text of 'train', which then omits these. */
const ownDev = (list, part) => list.filter((_, index) => (part === 'dev') === (index % 5 === 0));

function polarity(name, no, yes) {
  return (folder, part) =>
    rows(folder, `${name}-${part === 'test' ? 'test-halfA' : part}.tsv.gz`).map(([label, text]) => ({
      text,
      label: label === '1' ? yes : no,
    }));
}

function snips(folder, part) {
  const name = part === 'test' ? 'validate-halfA' : 'train';
  const all = lines(folder, `snips-${name}.jsonl.gz`)
    .map((line) => JSON.parse(line))
    .map(({ text, intent }) => ({ text, label: intent }));
  return part === 'test' ? all : ownDev(all, part);
}

function clinc(intents) {
  return (folder, part) => {
    const [file, key] = { train: ['train-val', 'train'], dev: ['train-val', 'val'], test: ['test-halfA', 'test'] }[part];
    return JSON.parse(unpack(folder, `clinc150-${file}.json.gz`))
      [key].filter(([, label]) => intents.includes(label))
      .map(([text, label]) => ({ text, label }));
  };
}

function banking(intents) {
  return (folder, part) => {
    const all = rows(folder, `banking77-${part === 'test' ? 'test-halfA' : 'train'}.tsv.gz`)
      .filter(([label]) => intents.includes(label))
      .map(([label, text]) => ({ text, label }));
    return part === 'test' ? all : ownDev(all, part);
  };
}

function emotions(names) {
  return (folder, part) =>
    rows(folder, `goemotions-${part === 'test' ? 'test-halfA' : part}.tsv.gz`).flatMap(([text, label]) =>
      label in names ? [{ text, label: names[label] }] : [],
    );
}

/** Sets of docs/internals/training.md. Intents and emotions are those that the demo models' training left out (models/training/labels.tsv). */
export const kTable = {
  subjectivity: polarity('subjectivity', 'objective', 'subjective'),
  'rt-polarity': polarity('rt-polarity', 'bad', 'good'),
  'pros-cons': polarity('pros-cons', 'con', 'pro'),
  snips,
  'clinc150-4': clinc(['what_song', 'lost_luggage', 'spelling', 'taxes']),
  'clinc150-10': clinc([
    'damaged_card',
    'restaurant_reviews',
    'what_song',
    'current_location',
    'uber',
    'traffic',
    'spelling',
    'taxes',
    'tell_joke',
    'change_volume',
  ]),
  'banking77-4': banking(['age_limit', 'request_refund', 'declined_cash_withdrawal', 'exchange_charge']),
  'banking77-10': banking([
    'age_limit',
    'card_payment_not_recognised',
    'card_swallowed',
    'declined_cash_withdrawal',
    'exchange_charge',
    'fiat_currency_support',
    'pending_cash_withdrawal',
    'request_refund',
    'top_up_limits',
    'transfer_timing',
  ]),
  'goemotions-4': emotions({ 6: 'confusion', 11: 'disgust', 14: 'fear', 15: 'gratitude' }),
};

/** Data sets for choosing defaults. They use the part 'dev' for tests. */
export const kDevelopment = {
  subjectivity: kTable.subjectivity,
  'rt-polarity': kTable['rt-polarity'],
  'pros-cons': kTable['pros-cons'],
  snips,
  'clinc150-8': clinc(['oil_change_when', 'oil_change_how', 'tire_pressure', 'gas', 'mpg', 'distance', 'directions', 'jump_start']),
  'banking77-5': banking([
    'card_linking',
    'balance_not_updated_after_cheque_or_cash_deposit',
    'top_up_by_card_charge',
    'topping_up_by_card',
    'virtual_card_not_working',
  ]),
  'goemotions-6': emotions({ 1: 'amusement', 2: 'anger', 7: 'curiosity', 18: 'love', 25: 'sadness', 26: 'surprise' }),
};

function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffled(list, seed) {
  const random = randomOf(seed);
  const order = [...list];
  for (let i = order.length - 1; i > 0; --i) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

export function draw(train, count, seed) {
  const order = shuffled(train, seed);
  const labels = [...new Set(train.map(({ label }) => label))].sort();
  return shuffled(
    labels.flatMap((label) => order.filter((example) => example.label === label).slice(0, count)),
    seed + 1000,
  );
}
