// Statements of docs/tasks/redact.md that no other test of redaction checks: names of the details, cues in each language, priorities, counts.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createRedactor, redact } from '../../web/src/index_redact.js';
import { ibanLength } from '../../web/src/redact/ibans.js';
import { kPatternNames } from '../../web/src/redact/pattern_names.js';
import { restore } from '../../web/src/redact/placeholders.js';
import type { DetailFinder } from '../../web/src/redact/types.js';
import goldens from '../fixtures/national_ids.json' with { type: 'json' };
import { found } from './support/found_details.js';
import { giving, redact as withModel } from './support/redact_stubs.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const kPage = read('docs/tasks/redact.md');

test('the demo model finds the types that the page names', () => {
  const { id2label } = JSON.parse(read('models/peruse-tagger-convbert-tiny/config.json')) as { id2label: Record<string, string> };
  const types = [...new Set(Object.values(id2label).map((label) => label.replace(/^[BI]-/, '')))];
  const named = ['PER', 'LOC', 'ORG', 'DATE', 'AMOUNT', 'EMAIL', 'PHONE', 'LINK', 'CARD', 'IBAN', 'ID'];
  expect(types.sort()).toEqual([...named, 'MISC', 'O'].sort());
});

test.each(['DATE', 'TIME', 'AMOUNT', 'MEASURE', 'EVENT', 'PRODUCT', 'WORK_OF_ART'])(
  '%s is not private unless it is asked for',
  async (type) => {
    const call = withModel(giving([type, 'Something']));
    expect((await call('Something else')).text).toBe('Something else');
    expect((await call('Something else', { types: [type] })).text).toBe(`[${type}_1] else`);
  },
);

test('patterns find names and streets only where something introduces them', () => {
  expect(found('Mary Miller met Tom Bell at 12 High Street, Leeds.')).toEqual([]);
  expect(found('Surname: Miller\nStreet: 12 High Street')).toEqual(['PER Miller', 'LOC 12 High Street']);
});

describe('restore', () => {
  const mapping = { '[PER_1]': 'Mary' };

  test('fills in placeholders in links and images, too', () => {
    const reply = '![](https://example.com/?q=[PER_1]) and [a](https://example.com/PER_1)';
    expect(restore(reply, mapping).text).toBe('![](https://example.com/?q=Mary) and [a](https://example.com/Mary)');
  });

  test('cannot restore what a replacer has replaced', async () => {
    const { text, mapping: given } = await redact('Mail mary@example.org.', { replacer: () => '***' });
    expect(restore(text, given)).toEqual({ text: 'Mail ***.', restored: [], unrestored: [] });
  });
});

test('a replacer receives what the page says', async () => {
  const received: unknown[] = [];
  const replacer = (entity: object) => {
    received.push(entity);
    return '***';
  };
  await redact('Mail mary@example.org, MARY@EXAMPLE.ORG.', { replacer });
  const first = { type: 'EMAIL', text: 'mary@example.org', score: 1, start: 5, end: 21, placeholder: '[EMAIL_1]' };
  expect(received).toEqual([first, { ...first, text: 'MARY@EXAMPLE.ORG', start: 23, end: 39, placeholder: '[EMAIL_2]' }]);
  expect(kPage).toContain(`receives \`{ ${Object.keys(first).join(', ')} }\``);
});

test('a session compares words without spacing and Unicode form, and its mapping is plain data', async () => {
  const redactor = createRedactor({
    finders: [(texts) => texts.map((text) => [{ type: 'PER', start: 0, end: text.length }])],
  });
  const session = redactor.session();
  const texts = ['Ren\u00e9 Hall', 'Rene\u0301  Hall', 'REN\u00c9 HALL', 'Ren\u00e9\u00a0Hall'];
  for (const text of texts) expect((await session.redact(text)).text).toBe('[PER_1]');
  expect(session.restore('[PER_1]').text).toBe(texts[0]);
  const stored = JSON.parse(JSON.stringify(session.mapping)) as Record<string, string>;
  expect((await redactor.session({ mapping: stored }).redact('ren\u00e9 hall')).text).toBe('[PER_1]');
});

describe('overlaps', () => {
  const finding = (type: string, score: number): DetailFinder => {
    return (texts) => texts.map(() => [{ type, start: 0, end: 7, score }]);
  };
  const sure = async () => [[{ entity_group: 'MODEL', score: 1, word: '', start: 0, end: 7 }]];
  const own = { type: 'OWN', find: () => [{ start: 0, end: 7 }] };

  test('of equal findings the pattern decides, then the model', async () => {
    const finders = [finding('FINDER', 1)];
    expect((await withModel(sure)('A-12345', { finders, patterns: [own] })).text).toBe('[OWN_1]');
    expect((await withModel(sure)('A-12345', { finders })).text).toBe('[MODEL_1]');
    expect((await withModel(undefined)('A-12345', { finders })).text).toBe('[FINDER_1]');
    expect((await withModel(sure)('A-12345', { finders, types: ['FINDER'] })).text).toBe('[FINDER_1]');
  });

  test('patterns have the order that the page says', () => {
    const order = /Among patterns the priority is ([^.]*)\./.exec(kPage)![1]!;
    expect([...order.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name)).toEqual([...kPatternNames]);
    const rows = /\| name \| finds \|([\s\S]*?)\n\n/.exec(kPage)![1]!;
    const named = rows.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name!));
    expect(named.sort()).toEqual([...kPatternNames].sort());
  });
});

describe('the table of patterns', () => {
  test('89 countries have IBANs', () => {
    const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));
    expect(letters.flatMap((first) => letters.filter((second) => ibanLength(first + second) !== undefined))).toHaveLength(89);
  });

  test('national numbers are of 30 countries', () => {
    expect(new Set(Object.keys(goldens).map((name) => name.split('.')[0]))).toHaveLength(30);
  });

  const letters = (count: number) => 'a1B2c3D4e5'.repeat(8).slice(0, count);
  const hex = (count: number) => '0a1b2c3d4e5f'.repeat(6).slice(0, count);
  // In two parts, so that scanners of repositories do not report them.
  test.each([
    ['OpenAI', 'sk-', `proj-${letters(30)}`],
    ['Anthropic', 'sk-', `ant-api03-${letters(30)}`],
    ['OpenRouter', 'sk-', `or-v1-${letters(30)}`],
    ['Stripe', 'rk_', `live_${letters(24)}`],
    ['Stripe, webhooks', 'whs', `ec_${letters(32)}`],
    ['Amazon', 'ASI', 'AIOSFODNN7EXAMPLE'],
    ['GitHub', 'git', `hub_pat_${letters(50)}`],
    ['GitLab', 'glp', `at-${letters(20)}`],
    ['Google', 'AIz', `a${letters(35)}`],
    ['Google, OAuth', 'GOC', `SPX-${letters(28)}`],
    ['Slack', 'xap', `p-${letters(30)}`],
    ['Hugging Face', 'hf_', letters(34)],
    ['npm', 'npm', `_${letters(36)}`],
    ['Groq', 'gsk', `_${letters(40)}`],
    ['Replicate', 'r8_', letters(37)],
    ['PyPI', 'pyp', `i-${letters(60)}`],
    ['SendGrid', 'SG.', `${letters(22)}.${letters(43)}`],
    ['Mailgun', 'key', `-${hex(32)}`],
    ['Twilio', 'AC', hex(32)],
    ['DigitalOcean', 'dop', `_v1_${hex(64)}`],
    ['Shopify', 'shp', `at_${hex(32)}`],
    ['Square', 'sq0', `atp-${letters(22)}`],
    ['Databricks', 'dap', `i${hex(32)}`],
    ['xAI', 'xai', `-${letters(60)}`],
    ['Perplexity', 'ppl', `x-${letters(48)}`],
    ['Linear', 'lin', `_api_${letters(40)}`],
    ['Notion', 'ntn', `_${letters(45)}`],
    ['Atlassian', 'ATA', `TT3${letters(60)}`],
    ['Telegram', '12345678', `90:AA${letters(33)}`],
  ])('a key of %s', (_, first, rest) => expect(found(`It is ${first}${rest} here`)).toEqual([`KEY ${first}${rest}`]));

  test.each([
    ['English', 'born on 5 June 1980'],
    ['German', 'geboren am 5. Juni 1980'],
    ['French', 'n\u00e9e le 5 juin 1980'],
    ['Spanish', 'nacido el 5 de junio de 1980'],
    ['Italian', 'nata il 5 giugno 1980'],
    ['Portuguese', 'nascida em 5 de junho de 1980'],
    ['Dutch', 'geboortedatum: 5 juni 1980'],
    ['Polish', 'urodzona 5 czerwca 1980'],
    ['Swedish', 'f\u00f6dd 5 juni 1980'],
    ['Danish and Norwegian', 'f\u00f8dt 5.6.1980'],
    ['Finnish', 'syntym\u00e4aika 5.6.1980'],
    ['Czech', 'narozena 5.6.1980'],
    ['Turkish', 'do\u011fum tarihi 5 Haziran 1980'],
    ['Russian', '\u0440\u043e\u0434\u0438\u043b\u0441\u044f 5 \u0438\u044e\u043d\u044f 1980'],
    ['Arabic', '\u0645\u0648\u0627\u0644\u064a\u062f 5 \u064a\u0648\u0646\u064a\u0648 1980'],
    ['Hindi', '\u091c\u0928\u094d\u092e 5 \u091c\u0942\u0928 1980'],
    ['Chinese', '1980\u5e746\u67085\u65e5\u51fa\u751f'],
    ['Japanese', '\u751f\u5e74\u6708\u65e5\uff1a1980\u5e746\u67085\u65e5'],
    ['Korean', '\uc0dd\ub144\uc6d4\uc77c: 1980\ub144 6\uc6d4 5\uc77c'],
  ])('a date of birth in %s', (_, text) => expect(found(text)).toEqual([expect.stringMatching(/^BIRTH_DATE .*1980/)]));

  test.each(['AA-123-BB', 'GA 123 BB', 'AB12 CDE', 'B-MW 1234', 'MH 12 AB 1234', 'A123BC 77', '\u4eacA\u00b712345'])(
    'the plate %s',
    (plate) => expect(found(`Look at ${plate}, please`)).toEqual([`PLATE ${plate}`]),
  );
});

/** In each language: a line, a sentence that gives a name or number, a name next to a form of address. */
const kLanguages: Record<string, [line: string, sentence: string, addressed: string]> = {
  English: ['Surname: Miller', 'my name is Mary Miller', 'Mrs Miller'],
  German: ['Nachname: Bach', 'ich hei\u00dfe J\u00f6rg Bach', 'Frau Bach'],
  French: ['Pr\u00e9nom : Zo\u00e9', "je m'appelle Zo\u00e9 Petit", 'Madame Petit'],
  Spanish: ['Apellidos: Pons', 'me llamo Nuria Pons', 'Se\u00f1ora Pons'],
  Italian: ['Cognome: Bianchi', 'mi chiamo Gino Bianchi', 'Signora Bianchi'],
  Portuguese: ['Sobrenome: Prado', 'meu nome \u00e9 Rui Prado', 'Dona Celeste'],
  Dutch: ['Achternaam: Visser', 'ik heet Joris Visser', 'Mevrouw Visser'],
  Polish: ['Nazwisko: Nowak', 'nazywam si\u0119 Ewa Nowak', 'Pani Nowak'],
  Turkish: ['Soyad: Tekin', 'ad\u0131m Onur Tekin', 'Onur Bey'],
  Russian: [
    '\u0424\u0430\u043c\u0438\u043b\u0438\u044f: \u0411\u0435\u043b\u043e\u0432',
    '\u043c\u0435\u043d\u044f \u0437\u043e\u0432\u0443\u0442 \u041e\u043b\u0435\u0433 \u0411\u0435\u043b\u043e\u0432',
    '\u0433-\u043d \u0411\u0435\u043b\u043e\u0432',
  ],
  Arabic: [
    '\u0627\u0644\u0627\u0633\u0645: \u0633\u0627\u0645\u0631',
    '\u0627\u0633\u0645\u064a \u0633\u0627\u0645\u0631 \u062d\u062f\u0627\u062f',
    '\u0627\u0644\u0633\u064a\u062f \u062d\u062f\u0627\u062f',
  ],
  Hindi: [
    '\u0928\u093e\u092e: \u0930\u094b\u0939\u0928',
    '\u092e\u0947\u0930\u093e \u0928\u093e\u092e \u0930\u094b\u0939\u0928 \u0939\u0948',
    '\u0936\u094d\u0930\u0940 \u0936\u0930\u094d\u092e\u093e \u091c\u0940',
  ],
  Chinese: ['\u59d3\u540d\uff1a\u738b\u4f1f', '\u6211\u53eb\u738b\u4f1f\uff0c', '\u738b\u5148\u751f'],
  Japanese: [
    '\u6c0f\u540d\uff1a\u5c71\u7530\u592a\u90ce',
    '\u540d\u524d\u306f\u5c71\u7530\u592a\u90ce\u3067\u3059\u3002',
    '\u4f50\u85e4\u3055\u3093',
  ],
  Korean: [
    '\uc774\ub984: \uae40\ubbfc\uc900',
    '\uc81c \uc774\ub984\uc740 \uae40\ubbfc\uc900\uc785\ub2c8\ub2e4.',
    '\uae40\ubbfc\uc900 \uc528\uac00 \uc654\uc5b4\uc694',
  ],
};

test('lines, sentences and forms of address are of fifteen languages', () => expect(Object.keys(kLanguages)).toHaveLength(15));

test.each(Object.entries(kLanguages))('a line, a sentence and a form of address in %s', (_, texts) => {
  for (const text of texts) expect(found(text), text).toEqual([expect.stringMatching(/^PER ./)]);
});
