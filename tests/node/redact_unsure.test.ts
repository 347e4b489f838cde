// Names of which a model is not certain enough for their script and form.
import { expect, test } from 'vitest';
import type { Run } from '../../web/src/tasks/call.js';
import { redact } from './support/redact_stubs.js';

/** Finds each of the words, with a score that no other rule is about. */
function certain(certainties: Record<string, number | undefined>, type = 'PER'): Run {
  return async (inputs) =>
    inputs.map(({ text }) =>
      Object.entries(certainties).flatMap(([word, certainty]) => {
        const start = (text as string).indexOf(word);
        return start < 0 ? [] : [{ entity_group: type, score: 0.95, word: '', start, end: start + word.length, certainty }];
      }),
    );
}

const isHidden = async (text: string, words: Record<string, number | undefined>, options: object = {}) =>
  (await redact(certain(words))(text, options)).entities.length > 0;

test.each<[what: string, text: string, word: string, below: number, above: number]>([
  ['an infinitive before an article', 'Scolare la pasta e unire la panna.', 'Scolare', 0.97, 0.99],
  ['a first word without an article', 'Salvatore arriva domani.', 'Salvatore', 0.63, 0.65],
  ['a German noun', 'Warum ist der Himmel blau?', 'Himmel', 0.77, 0.79],
  ['a German noun with other words', 'Warum ist der Himmel blau?', 'Himmel blau', 0.77, 0.79],
  ['a German noun of which a common word shows the language', 'Hast du Salz an die Nudel getan oder was?', 'Nudel', 0.77, 0.79],
  ['a German noun after an article that no name has', 'Treffen wir uns am Kiosk', 'Kiosk', 0.89, 0.91],
  ['a German noun after Das', 'Das Strandbad ist leer', 'Strandbad', 0.89, 0.91],
  ['a common German word', 'Karla kauft Joghurt', 'Joghurt', 0.97, 0.99],
  ['a common English word', 'Swim on Tuesday', 'Tuesday', 0.97, 0.99],
  ['an age of history', 'She knows the Bronze Age well', 'Bronze Age', 0.97, 0.99],
  ['an imperative', 'Peter. Chop them', 'Chop', 0.97, 0.99],
  ['a common Hindi word', 'यह पानी है', 'पानी', 0.99998, 1],
  ['a plural in Hindi', 'ये किताबें हैं', 'किताबें', 0.99998, 1],
  ['a common Arabic word after "and the"', 'هذا القبو والبيت', 'والبيت', 0.99998, 1],
  ['the first word of a sentence', 'Hallo. Snow is left only here.', 'Snow', 0.63, 0.65],
  ['the first word of a Russian sentence', 'Осторожно, лестница шатается', 'Осторожно', 0.63, 0.65],
  ['first words of which one has a capital', 'Vino italiano y queso', 'Vino italiano', 0.87, 0.89],
  ['a pronoun that begins a sentence', 'Hallo. Your house', 'Your', 0.97, 0.99],
  ['words after a pronoun that begins a sentence', 'Twoja ładowarka leży', 'Twoja ładowarka', 0.97, 0.99],
  ['Hindi words', 'यह हरी दराज़ है', 'हरी दराज़', 0.91, 0.92],
  ['an Arabic word', 'نحن نبحث عن شخص', 'نبحث', 0.69, 0.71],
  ['Arabic words', 'هو يقص العشب كل', 'يقص العشب', 0.79, 0.81],
  ['Korean words', '충전기는 창가 라디오 옆에', '창가 라디오', 0.89, 0.91],
  ['Chinese characters without a surname', '我们冬季去', '冬季', 0.94, 0.96],
  ['a Chinese character', '小心，梯子', '梯', 0.89, 0.96],
  ['Japanese characters', '金利が上がる', '金利', 0.93, 0.95],
])('%s stays below a certainty', async (_, text, word, below, above) => {
  expect([await isHidden(text, { [word]: below }), await isHidden(text, { [word]: above })]).toEqual([false, true]);
  expect(await isHidden(text, { [word]: undefined })).toBe(true);
  expect(await isHidden(text, { [word]: below }, { types: ['PER'] })).toBe(true);
});

test.each<[what: string, text: string, word: string]>([
  ['a name within a sentence', 'I saw Snow there', 'Snow'],
  ['a pronoun and a name', 'He Snow is here', 'He Snow'],
  ['a first name and a surname', 'Clara Snow is here', 'Clara Snow'],
  ['a first word that is alone', 'Snow: here', 'Snow'],
  ['small letters', 'das ist jonas', 'jonas'],
  ['a Chinese surname', '我们冯冬去', '冯冬'],
  ['a familiar form of address', '找小冬去', '小冬'],
  ['a Japanese surname', '中村が来る', '中村'],
  ['kana', '母ははるかです', 'はるか'],
  ['a Hindi word', 'यह रिया है', 'रिया'],
  ['a Korean word', '아서에게 전화', '아서'],
])('%s is hidden whatever the certainty', async (_, text, word) => {
  expect(await isHidden(text, { [word]: 0.5 })).toBe(true);
});

test('common words at the ends of a person in Hindi are not hidden with the name', async () => {
  const { text } = await redact(certain({ 'चाबी आकाश रखना': 0.99 }))('यह चाबी आकाश रखना है');
  expect(text).toBe('यह चाबी [PER_1] रखना है');
  expect((await redact(certain({ 'पानी गरम था': 0.99 }))('यह पानी गरम था')).text).toBe('यह पानी गरम था');
  expect((await redact(certain({ 'चाबी चौक': 0.99 }, 'LOC'))('यह चाबी चौक है')).text).toBe('यह [LOC_1] है');
});

test('findings that touch are as certain as the most certain one', async () => {
  expect(await isHidden('我见鲜于冬季', { 鲜于: 0.6, 冬季: 0.6 })).toBe(false);
  const { entities } = await redact(certain({ 鲜于: 0.99, 冬季: 0.6 }))('我见鲜于冬季');
  expect(entities.map(({ text }) => text).join('')).toBe('鲜于冬季');
});

test('a higher recall lowers the limits, to nothing for a recall of 1', async () => {
  const at = (certainty: number, recall: number) => isHidden('Warum ist der Himmel blau?', { Himmel: certainty }, { recall });
  expect([await at(0.77, 0), await at(0.77, 0.55), await at(0.77, 0.6), await at(0.5, 0.8), await at(0.54, 0.8)]).toEqual([
    false,
    false,
    true,
    false,
    true,
  ]);
  expect([await at(0.05, 0.99), await at(0.001, 1)]).toEqual([true, true]);
});

test('the engine is asked for certainties, and results do not contain them', async () => {
  let asked: Record<string, unknown> = {};
  const run: Run = async (inputs, options, call) => {
    asked = options;
    return certain({ Anna: 0.9 })(inputs, options, call);
  };
  const { entities } = await redact(run)('I met Anna');
  expect(asked).toMatchObject({ certainty: true });
  const [keys] = entities.map((entity) => Object.keys(entity).sort());
  expect(keys).toEqual(['end', 'placeholder', 'replacement', 'score', 'start', 'text', 'type']);
});
