// Messages for measuring redaction: those of models/everyday_messages.txt, and generated ones. None was used for rules or training.
import { readFileSync } from 'node:fs';

const kFile = new URL('../../../models/everyday_messages.txt', import.meta.url);

export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

const kCarriers = [
  'You can reach me at {}.',
  'My details: {}, thanks',
  'please use {} from now on',
  'I gave them {} yesterday and heard nothing.',
  'Is {} still correct?',
  'He wrote "{}" on a piece of paper.',
  '{} - that is the one you asked for',
  'Forward this to my brother ({}).',
];

const pick = (random, list) => list[Math.floor(random() * list.length)];
const digits = (random, count) => Array.from({ length: count }, () => Math.floor(random() * 10)).join('');

function withLuhn(body) {
  const sum = [...body].reverse().reduce((total, digit, place) => {
    const value = place % 2 === 0 ? 2 * Number(digit) : Number(digit);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return body + String((10 - (sum % 10)) % 10);
}

function germanIban(random) {
  const account = digits(random, 18);
  const check = 98n - (BigInt(`${account}131400`) % 97n);
  return `DE${String(check).padStart(2, '0')}${account}`;
}

const grouped = (text, size, sign) => text.match(new RegExp(`.{1,${size}}`, 'g')).join(sign);

const kMakers = {
  email: (random) =>
    `${pick(random, ['j.lund', 'maria', 'k_ono', 'sam.oh'])}${digits(random, 2)}@${pick(random, ['example.org', 'mail.example.com', 'post.example.de'])}`,
  phone: (random) =>
    pick(random, [
      `+44 7700 900${digits(random, 3)}`,
      `+49 30 ${digits(random, 8)}`,
      `(555) 01${digits(random, 1)}-${digits(random, 4)}`,
      `06 ${grouped(digits(random, 8), 2, ' ')}`,
    ]),
  card: (random) => grouped(withLuhn(`4${digits(random, 14)}`), 4, pick(random, [' ', '-', ''])),
  iban: (random) => grouped(germanIban(random), 4, pick(random, [' ', ''])),
  ip: (random) => `203.0.113.${Math.floor(random() * 256)}`,
  mac: (random) =>
    Array.from({ length: 6 }, () =>
      Math.floor(random() * 256)
        .toString(16)
        .padStart(2, '0'),
    ).join(':'),
  birth: (random) => `born ${1950 + Math.floor(random() * 50)}-0${1 + Math.floor(random() * 9)}-1${Math.floor(random() * 10)}`,
};

/** Ways to write a detail that people can read easily. */
const kEscapes = {
  'full width': (text) => text.replace(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
  'no-break spaces': (text) => text.replaceAll(' ', '\u00a0'),
  'zero-width spaces': (text) => text.replace(/(..)/g, '$1\u200b'),
  'soft hyphens': (text) => text.replace(/(...)/g, '$1\u00ad'),
  'spaced out': (text) => text.replace(/([0-9])(?=[0-9])/g, '$1 '),
  'words for signs': (text) => text.replace('@', ' at ').replaceAll(/\.(?=[a-z])/g, ' dot '),
};

/** Messages { kind, text, details: [{ start, end }] }; kinds are names, details, escaped and clean. */
export function messagesFrom(seed) {
  const random = randomFrom(seed);
  const sections = readFileSync(kFile, 'utf8').split(/^= /m).slice(1);
  const messages = [];
  const add = (kind, carrier, detail) => {
    const start = carrier.indexOf('{}');
    const cue = /^born /.exec(detail)?.[0].length ?? 0; // The word before a date of birth is not private.
    messages.push({ kind, text: carrier.replace('{}', () => detail), details: [{ start: start + cue, end: start + detail.length }] });
  };
  for (const section of sections) {
    const lines = section.split('\n').filter((line) => line.trim() !== '');
    const carriers = lines.filter((line) => line.startsWith('> ')).map((line) => line.slice(2));
    if (lines[0].trim() === 'ordinary') {
      for (const text of carriers) messages.push({ kind: 'clean', text, details: [] });
      continue;
    }
    const list = lines
      .slice(1)
      .filter((line) => !line.startsWith('> '))
      .join(lines[0].includes('full') ? '|' : ' ');
    const names = list.split(lines[0].includes('full') ? '|' : ' ');
    for (const carrier of carriers) add('names', carrier, pick(random, names));
  }
  for (const make of Object.values(kMakers)) for (let i = 0; i < 12; ++i) add('details', pick(random, kCarriers), make(random));
  for (const [name, disguise] of Object.entries(kEscapes)) {
    for (let i = 0; i < 12; ++i) {
      const makers = name === 'words for signs' ? ['email'] : name === 'no-break spaces' ? ['phone', 'iban'] : ['phone', 'card', 'iban'];
      add('escaped', pick(random, kCarriers), disguise(kMakers[pick(random, makers)](random)));
    }
  }
  return messages;
}
