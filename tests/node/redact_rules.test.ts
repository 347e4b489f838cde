import { describe, expect, test } from 'vitest';
import { checksum } from '../../web/src/redact/checksums.js';
import { restore } from '../../web/src/redact/placeholders.js';
import type { DetailFinder } from '../../web/src/redact/types.js';
import type { Run } from '../../web/src/tasks/call.js';
import { giving, redact } from './support/redact_stubs.js';

describe('rules', () => {
  const kCard = ['4111', '1111', '1111', '1111'];
  const kIban = ['DE89', '3704', '0044', '0532', '0130', '00'];
  const kSeparators = [
    ' ',
    '  ',
    '\u00a0',
    '\u2009',
    '\u202f',
    '-',
    '\u2011',
    '\u2013',
    '.',
    '\u200b',
    '\u00ad',
    '\t',
    ' - ',
    '',
    '/',
    '\n',
  ];

  test.each(kSeparators)('right check digits stay hidden, written with %j', async (separator) => {
    for (const [type, groups] of [
      ['CARD', kCard],
      ['IBAN', kIban],
    ] as const) {
      const number = groups.join(separator);
      for (const before of ['', '|', '(', 'x ']) {
        const text = `No ${before}${number}.`;
        const run: Run = async ([input]) => {
          const start = (input!.text as string).search(type === 'CARD' ? /4111/ : /DE89/) - before.length;
          return [[{ entity_group: type, score: 0.9, word: '', start, end: (input!.text as string).length - 1 }]];
        };
        const { text: redacted } = await redact(run)(text, { rules: { CARD: 'luhn', IBAN: 'iban' } });
        expect(redacted).toBe(`No ${`[${type}_1].`}`);
      }
    }
  });

  test.each<[string, [string, string][], string]>([
    [
      'Card 5500 1111 2222 3331 ok',
      [
        ['CARD', '5500 1111 2222'],
        ['IBAN', '3331'],
      ],
      'Card [CARD_1] ok',
    ],
    ['Card 5500 1111 2222 3331 ok', [['CARD', '5500 1111 2222']], 'Card [CARD_1] ok'],
    [
      'Card 5500 1111 2222 3331 ok',
      [
        ['PHONE', '5500'],
        ['CARD', '1111 2222 3331'],
      ],
      'Card [CARD_1] ok', // equal scores: the longer one decides the type
    ],
    ['Card 5500 1111 2222 3332 ok', [['CARD', '5500 1111 2222 3332']], 'Card 5500 1111 2222 3332 ok'],
    ['Card 5500 1111 ok', [['CARD', '5500 1111']], 'Card [CARD_1] ok'], // not of a card number's form, so check digits do not count
    [
      'To DE89 3704 0044 0532 0130 00 now',
      [
        ['IBAN', 'DE89 3704 0044'],
        ['CARD', '0532 0130 00'],
      ],
      'To [IBAN_1] now',
    ],
    ['To GB29 NWBK 6016 1331 9268 19 now', [['IBAN', '6016 1331 9268 19']], 'To [IBAN_1] now'],
    ['To DE88 3704 0044 0532 0130 00 now', [['IBAN', 'DE88 3704 0044 0532 0130 00']], 'To DE88 3704 0044 0532 0130 00 now'],
  ])('%s: %j', async (text, parts, expected) => {
    const call = redact(giving(...parts));
    const { text: redacted, mapping } = await call(text, { rules: { CARD: 'luhn', IBAN: 'iban' } });
    expect(redacted).toBe(expected);
    expect(restore(redacted, mapping).text).toBe(text);
  });

  test('a function reads the folded text', async () => {
    const { text } = await redact(giving(['CARD', '123']))('\uff11\uff12\uff13', { rules: { CARD: (read) => read === '123' } });
    expect(text).toBe('[CARD_1]');
  });
});

describe('checksums', () => {
  test.each(['4111 1111 1111 1111', '378282246310005', '6011-1111-1111-1117', '5555555555554444', '4111  1111 1111 1111'])(
    '%s may be a card number',
    (text) => {
      expect(checksum('luhn', text)).toBe('right');
    },
  );
  test.each<[string, string]>([
    ['4111 1111 1111 1112', 'wrong'],
    ['', 'formless'],
    ['0', 'formless'],
    ['abc', 'formless'],
    ['41111111111111111111111', 'formless'],
  ])('%s is none: %s', (text, verdict) => {
    expect(checksum('luhn', text)).toBe(verdict);
  });
  // Examples of ISO 13616's registry.
  test.each([
    'DE89 3704 0044 0532 0130 00',
    'DE89\u00a03704\u00a00044-0532\u20110130\u00a000',
    'GB29NWBK60161331926819',
    'NO93 8601 1117 947',
    'MT84MALT011000012345MTLCAST001S',
    'ch9300762011623852957',
  ])('%s may be an account number', (text) => {
    expect(checksum('iban', text)).toBe('right');
  });
  test.each<[string, string]>([
    ['DE88 3704 0044 0532 0130 00', 'wrong'],
    ['GB29NWBK6016133192681', 'wrong'],
    ['DE89', 'formless'],
    ['', 'formless'],
    ['D189370400440532013000', 'formless'],
  ])('%s is none: %s', (text, verdict) => {
    expect(checksum('iban', text)).toBe(verdict);
  });
});

describe('ordinary words that a token classifier takes for names', () => {
  const unsure =
    (type: string, word: string, score: number): Run =>
    async (inputs) =>
      inputs.map(({ text }) => {
        const start = (text as string).indexOf(word);
        return start < 0 ? [] : [{ entity_group: type, score, word: '', start, end: start + word.length }];
      });

  test.each<[text: string, type: string, word: string, score: number, expected: string]>([
    ['Weet iemand hoe laat het is?', 'PER', 'iemand', 0.5, 'Weet iemand hoe laat het is?'],
    ['Vertraging. Wij lopen naar huis', 'LOC', 'huis', 0.6, 'Vertraging. Wij lopen naar huis'],
    ['\u00bfQueda yogur o mostaza?', 'PER', 'yogur o mostaza', 0.47, '\u00bfQueda yogur o mostaza?'],
    [
      '\u041b\u0438\u0444\u0442 \u043d\u0430 \u044d\u0442\u0430\u0436\u0435',
      'GIVENNAME',
      '\u044d\u0442\u0430\u0436\u0435',
      0.4,
      '\u041b\u0438\u0444\u0442 \u043d\u0430 \u044d\u0442\u0430\u0436\u0435',
    ],
    ['Das hat jonas gesagt', 'PER', 'jonas', 0.7, 'Das hat [PER_1] gesagt'],
    ['hier ist jonas', 'PER', 'jonas', 0.5, 'hier ist [PER_1]'],
    ['Hallo! hier ist jonas', 'PER', 'jonas', 0.5, 'Hallo! hier ist [PER_1]'],
    ['Hier ist Jonas', 'PER', 'Jonas', 0.3, 'Hier ist [PER_1]'],
    ['Er wohnt in der am bach 4', 'LOC', 'am bach 4', 0.5, 'Er wohnt in der [LOC_1]'],
    ['Mein Name im Netz ist frosti', 'USERNAME', 'frosti', 0.5, 'Mein Name im Netz ist [USERNAME_1]'],
    ['I saw \u738b\u4f1f', 'PER', '\u738b\u4f1f', 0.5, 'I saw [PER_1]'],
    ['Dessert, koffie en dan naar huis', 'LOC', 'Dessert', 0.5, 'Dessert, koffie en dan naar huis'],
    ['Dresden, dann nach Hause', 'LOC', 'Dresden', 0.6, '[LOC_1], dann nach Hause'],
    ['Fertig? Nein, noch nicht', 'PER', 'Nein', 0.99, 'Fertig? Nein, noch nicht'],
    ['Nein Miller kommt', 'PER', 'Nein Miller', 0.99, '[PER_1] kommt'],
    ["L'\u00e9tag\u00e8re mesure 80 cm de large", 'LOC', '80 cm de large', 0.9, "L'\u00e9tag\u00e8re mesure 80 cm de large"],
    ['Tiefe 35 cm', 'LOC', 'Tiefe 35', 0.9, 'Tiefe 35 cm'],
    ['Er ist 34 Jahre alt', 'LOC', '34', 0.9, 'Er ist 34 Jahre alt'],
    ['Am Bach 12, 80 cm breit', 'LOC', 'Am Bach 12, 80', 0.9, '[LOC_1] cm breit'],
    ['exerc\u00edcios da p\u00e1gina 58', 'LOC', 'da p\u00e1gina 58', 0.9, 'exerc\u00edcios da p\u00e1gina 58'],
    ['5 Pagett Street', 'LOC', '5 Pagett Street', 0.9, '[LOC_1]'],
    ['\u6df135\u5398\u7c73', 'LOC', '\u6df135', 0.9, '\u6df135\u5398\u7c73'],
    ['Heute Italienischer Wein', 'PER', 'Italienischer', 0.8, 'Heute Italienischer Wein'],
    [
      '\u0418\u0442\u0430\u043b\u044c\u044f\u043d\u0441\u043a\u043e\u0435 \u0432\u0438\u043d\u043e',
      'PER',
      '\u0418\u0442\u0430\u043b\u044c\u044f\u043d\u0441\u043a\u043e\u0435',
      0.8,
      '\u0418\u0442\u0430\u043b\u044c\u044f\u043d\u0441\u043a\u043e\u0435 \u0432\u0438\u043d\u043e',
    ],
    ['Ask Italo Mare', 'PER', 'Italo', 0.8, 'Ask [PER_1] Mare'],
    ['연장전 끝에', 'ORG', '연장전', 0.3, '연장전 끝에'],
    ['연장전 끝에', 'ORG', '연장전', 0.5, '[ORG_1] 끝에'],
    ['Let the Okafors know', 'ORG', 'Okafors', 0.3, 'Let the [ORG_1] know'],
    ['\u7389\u306d\u304e\u3092\u5207\u308b', 'PER', '\u7389', 0.97, '\u7389\u306d\u304e\u3092\u5207\u308b'],
    ['\u68ee\u3055\u3093\u306b\u805e\u304f', 'PER', '\u68ee', 0.97, '[PER_1]\u3055\u3093\u306b\u805e\u304f'],
    ['\u6bcf\u5929\u6d47\u6c34', 'PER', '\u6d47', 0.8, '\u6bcf\u5929\u6d47\u6c34'],
    ['\u5979\u59d3\u9f9a', 'PER', '\u9f9a', 0.8, '\u5979\u59d3[PER_1]'],
    ['\u6bcf\u5929\u6e38\u6cf3', 'PER', '\u6e38\u6cf3', 0.4, '\u6bcf\u5929\u6e38\u6cf3'],
    ['\u901a\u77e5\uff1a\u56e0\u7ef4\u4fee', 'PER', '\u56e0\u7ef4\u4fee', 0.88, '\u901a\u77e5\uff1a\u56e0\u7ef4\u4fee'],
    ['\u7a7a\u306f\u306a\u305c\u9752\u304f', 'PER', '\u306f\u306a\u305c\u9752', 0.65, '\u7a7a\u306f\u306a\u305c\u9752\u304f'],
    ['\uc2dd\ud6c4\uc5d0 \ud55c \uc54c\uc529', 'PER', '\ud55c \uc54c\uc529', 0.69, '\uc2dd\ud6c4\uc5d0 \ud55c \uc54c\uc529'],
    [
      '\u0932\u094b\u0917 \u0917\u0941\u091c\u093c\u093e\u0930\u093e \u0915\u0930\u0924\u0947 \u0925\u0947',
      'LOC',
      '\u0917\u0941\u091c\u093c\u093e\u0930\u093e',
      0.43,
      '\u0932\u094b\u0917 \u0917\u0941\u091c\u093c\u093e\u0930\u093e \u0915\u0930\u0924\u0947 \u0925\u0947',
    ],
    // Names of persons that have such forms stay private.
    ['मेरा दोस्त राहुल रहता है', 'PER', 'राहुल', 0.68, 'मेरा दोस्त [PER_1] रहता है'],
    ['Ieri la signora Russo ha chiamato', 'PER', 'Russo', 0.5, 'Ieri la signora [PER_1] ha chiamato'],
    ['Ho parlato con Alessandro Greco', 'PER', 'Alessandro Greco', 0.87, 'Ho parlato con [PER_1]'],
    ['母ははるかです', 'PER', 'はるか', 0.4, '母は[PER_1]です'],
    ['请给李万里打电话', 'PER', '李万里', 0.7, '请给[PER_1]打电话'],
    ['아서에게 전화하세요', 'PER', '아서', 0.33, '[PER_1]에게 전화하세요'],
  ])('%s: %s %s %d', async (text, type, word, score, expected) => {
    expect((await redact(unsure(type, word, score))(text)).text).toBe(expected);
    expect((await redact(unsure(type, word, score))(text, { types: [type] })).text).toBe(text.replace(word, `[${type}_1]`));
  });

  test.each([
    ['Member M-448120, please', '448120', 'Member [ID_1], please'],
    ['Member AB/448120', '448120', 'Member [ID_1]'],
    ['Member of XYZZY-448120', '448120', 'Member of XYZZY-[ID_1]'],
    ['Rooms A-12 and B-13', '12', 'Rooms A-[ID_1] and B-13'],
  ])('letters before a number belong to it: %s', async (text, word, expected) => {
    expect((await redact(unsure('ID', word, 0.9))(text)).text).toBe(expected);
  });

  test('a finder of the caller decides itself', async () => {
    const finders: DetailFinder[] = [(texts) => texts.map(() => [{ type: 'PER', start: 5, end: 11, score: 0.5 }])];
    expect((await redact(undefined)('Weet iemand het?', { finders })).text).toBe('Weet [PER_1] het?');
  });
});
