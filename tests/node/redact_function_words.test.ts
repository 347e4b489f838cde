// Prepositions, conjunctions, articles and auxiliary verbs next to a name are not part of it.
import { expect, test } from 'vitest';
import { giving, redact } from './support/redact_stubs.js';

/** The text with each of the findings replaced by its type; braces mark what the model finds. */
async function redacted(marked: string, type = 'PER', options: object = {}): Promise<string> {
  const parts = [...marked.matchAll(/\{(.*?)\}/g)].map(([, part]): [string, string] => [type, part!]);
  return (await redact(giving(...parts))(marked.replaceAll(/[{}]/g, ''), { replacer: () => `[${type}]`, ...options })).text;
}

test.each<[language: string, marked: string, expected: string]>([
  ['German', 'Heute ruft {Anna Schmidt aus} Berlin an', 'Heute ruft [PER] aus Berlin an'],
  ['German', 'Das sind {und Peter} und {Anna, oder}', 'Das sind und [PER] und [PER], oder'],
  ['German', 'Der Hund {für Anna mit dem} Ball', 'Der Hund für [PER] mit dem Ball'],
  ['German', 'Gestern war {Anna in} der Stadt', 'Gestern war [PER] in der Stadt'],
  ['English', 'Ask {Tom Baker and} me', 'Ask [PER] and me'],
  ['English', 'It was {from Lucy Gray who has} it', 'It was from [PER] who has it'],
  ['French', 'Voici {Julie Martin chez} nous', 'Voici [PER] chez nous'],
  ['French', 'Voici {Julie Martin de} nous', 'Voici [PER] de nous'],
  ['Spanish', 'Llamó {Lucía Gómez desde} Valencia', 'Llamó [PER] desde Valencia'],
  ['Italian', 'Ecco {con Marco Verdi è} qui', 'Ecco con [PER] è qui'],
  ['Portuguese', 'Liga {João Silva em} Lisboa', 'Liga [PER] em Lisboa'],
  ['Dutch', 'Nu belt {Sanne Bakker uit} Leiden', 'Nu belt [PER] uit Leiden'],
  ['Polish', 'Dzwoni {Anna Nowak z} Krakowa', 'Dzwoni [PER] z Krakowa'],
  ['Turkish', 'Sonra {Ayşe Yılmaz ile} gitti', 'Sonra [PER] ile gitti'],
  ['Russian', 'Звонит {Анна Иванова из} Москвы', 'Звонит [PER] из Москвы'],
  ['Arabic', 'اتصل {أحمد حسن من} القاهرة', 'اتصل [PER] من القاهرة'],
  ['Hindi', 'कल {प्रिया शर्मा और} हम', 'कल [PER] और हम'],
  ['small letters', 'hier ist {anna schmidt aus} berlin', 'hier ist [PER] aus berlin'],
  ['capitals', 'HIER IST {ANNA SCHMIDT AUS} BERLIN', 'HIER IST [PER] AUS BERLIN'],
])('function words of %s: %s', async (_, marked, expected) => {
  expect(await redacted(marked)).toBe(expected);
  expect(await redacted(marked, 'PER', { types: ['PER'] })).toBe(marked.replaceAll(/\{.*?\}/g, '[PER]'));
});

test.each([
  'Es spielte {Ludwig van Beethoven}',
  'Vive {Maria de la Cruz} con Ana',
  'Here lives {Omar bin Khalid} now',
  'Hier wohnt {Karl von der} Heide',
  'Vive {Maria de la} Cruz',
  'Here is {Omar bin} Khalid',
  'Hier ist {von der Leyen}',
  'Escribió {José Ortega y} Gasset',
  'Chi ama {da Vinci}',
  'Ask {Maria Das} now',
  'Ask {Sem Hanno} now',
  'ask {priya das} now',
  'ask {nguyen son} now',
  'ask {ana una} now',
  'ASK {NGUYEN AN} NOW',
  'Сегодня {Пак На} здесь',
  'هنا {محمد بن} سلمان',
  'هنا {جاك ما} الآن',
  'यह {जो बाइडेन} है',
  '他是{王和}吗',
  '母は{いろは}です',
  '이 사람은 {김은} 씨',
])('a whole name: %s', async (marked) => {
  expect(await redacted(marked)).toBe(marked.replace(/\{.*\}/, '[PER]'));
});

test('between two parts of a place or organisation they stay, and between persons they do not', async () => {
  expect(await redacted('Wir sind in {Frankfurt am} {Main}', 'LOC')).toBe('Wir sind in [LOC] [LOC]');
  expect(await redacted('Wir helfen {Ärzte} {ohne Grenzen}', 'ORG')).toBe('Wir helfen [ORG] [ORG]');
  expect(await redacted('Da sind {Anna mit} {Peter}')).toBe('Da sind [PER] mit [PER]');
});

test('a finding without another word is none', async () => {
  expect(await redacted('Hier ist sie {und} ich')).toBe('Hier ist sie und ich');
  expect(await redacted('Hier ist sie {Und} ich')).toBe('Hier ist sie [PER] ich');
});

test('only names have function words at their ends', async () => {
  expect(await redacted('Das ist {QX 71 aus} dem Lager', 'ID')).toBe('Das ist [ID] dem Lager');
});
