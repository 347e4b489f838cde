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

/** Part 'dev' where the data set has none: every fifth text of the training part, which 'train' then leaves out. */
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

/** Sets of docs/teach.md. */
export const kTable = {
  subjectivity: polarity('subjectivity', 'objective', 'subjective'),
  'rt-polarity': polarity('rt-polarity', 'bad', 'good'),
  'pros-cons': polarity('pros-cons', 'con', 'pro'),
  snips,
  'clinc150-4': clinc(['freeze_account', 'what_song', 'reminder', 'calories']),
  'clinc150-10': clinc([
    'freeze_account',
    'what_song',
    'reminder',
    'calories',
    'weather',
    'flight_status',
    'translate',
    'alarm',
    'timer',
    'tell_joke',
  ]),
  'banking77-4': banking(['card_arrival', 'transfer_fee_charged', 'request_refund', 'transaction_charged_twice']),
  'banking77-10': banking([
    'card_arrival',
    'transfer_fee_charged',
    'request_refund',
    'transaction_charged_twice',
    'wrong_amount_of_cash_received',
    'age_limit',
    'exchange_rate',
    'lost_or_stolen_card',
    'pin_blocked',
    'top_up_failed',
  ]),
  goemotions: emotions({ 1: 'amusement', 2: 'anger', 7: 'curiosity', 15: 'gratitude', 18: 'love', 25: 'sadness' }),
};

/** Sets that defaults are chosen on: their tests are of the part 'dev'. */
export const kDevelopment = {
  subjectivity: kTable.subjectivity,
  'rt-polarity': kTable['rt-polarity'],
  'pros-cons': kTable['pros-cons'],
  snips,
  'clinc150-8': clinc(['balance', 'book_hotel', 'cancel', 'directions', 'insurance', 'meal_suggestion', 'oil_change_when', 'pto_request']),
  'banking77-6': banking([
    'activate_my_card',
    'card_linking',
    'cash_withdrawal_charge',
    'edit_personal_details',
    'failed_transfer',
    'verify_top_up',
  ]),
  'goemotions-4': emotions({ 0: 'admiration', 6: 'confusion', 14: 'fear', 26: 'surprise' }),
};

/** Numbers between 0 and 1 (mulberry32). */
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

/** `count` examples of each label, by draw, in mixed order. */
export function draw(train, count, seed) {
  const order = shuffled(train, seed);
  const labels = [...new Set(train.map(({ label }) => label))].sort();
  return shuffled(
    labels.flatMap((label) => order.filter((example) => example.label === label).slice(0, count)),
    seed + 1000,
  );
}
