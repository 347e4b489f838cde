// Values that are private because of their name, handles and number plates; and the words next to them that are not private.
import { describe, expect, test } from 'vitest';
import { redact } from '../../web/src/index_redact.js';
import { found } from './support/found_details.js';
import { giving, redact as withModel } from './support/redact_stubs.js';

describe('fields', () => {
  test.each<[string, string[]]>([
    ['{"firstName": "mary", "lastName": "Miller", "id": 5}', ['PER mary', 'PER Miller']],
    ['{"user": {"street": "12 High Street", "zip": "10115", "zip2": 10115}}', ['LOC 12 High Street', 'LOC 10115']],
    ["{ 'username': 'mk77', 'password': 'x1', postal_code: 75001 }", ['ID mk77', 'KEY x1', 'LOC 75001']],
    ['{"Nachname":"M\u00fcller","Stra\u00dfe":"Hauptstr. 5","PLZ":"10115"}', ['PER M\u00fcller', 'LOC Hauptstr. 5', 'LOC 10115']],
    ['{"\u59d3\u540d": "\u738b\u4f1f", "\u5730\u5740": "\u5317\u4eac"}', ['PER \u738b\u4f1f', 'LOC \u5317\u4eac']],
    ['{"billing_street": "1 Main St", "customer.lastName": "Bo"}', ['LOC 1 Main St', 'PER Bo']],
    ['id,last_name,zip\n1,Miller,10115\n2,"O\'Neil, jr",20095', ['PER Miller', 'LOC 10115', "PER O'Neil, jr", 'LOC 20095']],
    ['Name;Ort;Betrag\nAnna Bell;Rom;12,50\n\nEnde; gut; alles', ['PER Anna Bell', 'LOC Rom']],
    ['user=mary pass=hunter2 ip=none', ['ID mary', 'KEY hunter2']],
    ['DB_PASSWORD=hunter2\nAPP_NAME=shop', ['KEY hunter2']],
    ['GET /?lastName=Miller&page=2', ['PER Miller']],
    ['First name: Mary\nSurname: Miller\nStreet: 5 High Road', ['PER Mary', 'PER Miller', 'LOC 5 High Road']],
    [
      'From: Mary Miller <mary@example.org>\nTo: "Bell, Tom" <t@b.cd>',
      ['PER Mary Miller', 'EMAIL mary@example.org', 'PER Bell, Tom', 'EMAIL t@b.cd'],
    ],
    ['See you.\n\nBest regards,\nmary miller', ['PER mary miller']],
    ['Mit freundlichen Gr\u00fc\u00dfen\n\nJ\u00f6rg Bach\nVertrieb', ['PER J\u00f6rg Bach']],
    [
      '\u0421 \u0443\u0432\u0430\u0436\u0435\u043d\u0438\u0435\u043c,\n\u0418\u0432\u0430\u043d \u041f\u0435\u0442\u0440\u043e\u0432',
      ['PER \u0418\u0432\u0430\u043d \u041f\u0435\u0442\u0440\u043e\u0432'],
    ],
    ['{"नाम": "रोहन", "पता": "12, नेहरू नगर"}', ['PER रोहन', 'LOC 12, नेहरू नगर']],
    ['{"ad": "Onur", "soyad": "Tekin", "şehir": "Denizli"}', ['PER Onur', 'PER Tekin', 'LOC Denizli']],
    ['{"фамилия": "Белов", "город": "Тверь", "пароль": "9х"}', ['PER Белов', 'LOC Тверь', 'KEY 9х']],
    ['ad;telefon;tutar\nZeki Oral;0541 330 91 27;90', ['PER Zeki Oral', 'PHONE 0541 330 91 27']],
    ['naam;plaats;bedrag\nTruus Bakker;Zwolle;9', ['PER Truus Bakker', 'LOC Zwolle']],
    ['{"nombre":"Iker","apellidos":"Lasa"}', ['PER Iker', 'PER Lasa']],
    ['{"nom": "Zo\u00e9", "\u00e2ge": 4, "telephone": "0612487793"}', ['PER Zo\u00e9', 'PHONE 0612487793']],
    ['此致\n敬礼\n贺志远', ['PER 贺志远']],
    ['सादर,\nहेमंत सोलंकी', ['PER हेमंत सोलंकी']],
  ])('%j', (text, expected) => expect(found(text)).toEqual(expected));

  test.each([
    ['Cordialement,\r\nZo\u00e9 Blanc\r\nAchats', 'Cordialement,\r\n[PER_1]\r\nAchats'],
    ['\u6b64\u81f4\r\n\u656c\u793c\r\n\u8d3a\u5fd7\u8fdc', '\u6b64\u81f4\r\n\u656c\u793c\r\n[PER_1]'],
    ['name;ort\r\nAnna Bell;Rom\r\n', 'name;ort\r\n[PER_1];[LOC_1]\r\n'],
  ])('line ends of Windows stay: %j', async (text, expected) => expect((await redact(text)).text).toBe(expected));

  test.each([
    '{"name": "Blue Kettle", "title": "A book", "version": "1.2"}',
    '{"name": "Blue Kettle", "shop": {"url": "none"}}',
    '{"password": null, "token": "", "user": "<user>", "zip": "string"}',
    'def login(user, password):\n    return check(user=user, password=password)',
    'const token = next(tokens); let user = users[0];',
    'id,title,price\n1,Kettle,12\n2,Pot,9',
    'Address: where you live is your own affair. We do not ask.',
    'Note: the city is large',
    'Thanks,\nI will call you when the parts have arrived at the shop.',
    'password: string; user?: User;',
    'a = b, c = d',
  ])('%j is not private', (text) => expect(found(text)).toEqual([]));
});

describe('handles and number plates', () => {
  test.each<[string, string[]]>([
    ['Login fehlgeschlagen f\u00fcr Benutzer k.brandl von', ['HANDLE k.brandl']],
    ['u\u017cytkownik a.sikora, adres', ['HANDLE a.sikora']],
    ['エラー：ユーザー tsubasa_11 の', ['HANDLE tsubasa_11']],
    ['пользователя s.morozov нет', ['HANDLE s.morozov']],
    ['Thanks @mary_k and @tom.bell!', ['HANDLE @mary_k', 'HANDLE @tom.bell']],
    ['My insta is mary_k99, on reddit u/mary-k', ['HANDLE mary_k99', 'HANDLE u/mary-k']],
    ['The car AB12 CDE, the van AA-123-BB, B-MW 1234', ['PLATE AB12 CDE', 'PLATE AA-123-BB', 'PLATE B-MW 1234']],
    ['Number plate: 7XYZ 123', ['PLATE 7XYZ 123']],
    ['Kennzeichen HH AB 123', ['PLATE HH AB 123']],
    ['\u4eacA\u00b712345', ['PLATE \u4eacA\u00b712345']],
  ])('%j', (text, expected) => expect(found(text)).toEqual(expected));

  test.each([
    '@media print { a { color: red } }',
    '@property\ndef name(self):\n  return 1',
    'npm i @types/node @babel/core',
    'See you @home, @all. 5 pm @ work',
    'Press F5, use USB-C 3, A4 paper, COVID-19, ISO 9001, MP3',
    'DRIVE AT 120 KM, WAKE AT 100 AM',
    'The signal is lost. Its installation was stable.',
  ])('%j has none', (text) => expect(found(text)).toEqual([]));
});

describe('what a model marks and is not private', () => {
  test.each<[string, string, string]>([
    ['def fib(n):\n  return n', 'ORG', 'fib'],
    ['Press Ctrl+Shift+K twice.', 'PER', 'Shift'],
    ['It was published at Musicnotes.com today.', 'ORG', 'Musicnotes.com'],
    ['import Component from "react";', 'PER', 'Component'],
    ['SELECT name, price FROM article WHERE price > 10;', 'PER', 'price FROM article WHERE'],
    ['It weighs 5 kg.', 'AMOUNT', '5 kg'],
    ['The meeting is on 12 March 2024.', 'DATE', '12 March 2024'],
    ['I like my Walkman.', 'MISC', 'Walkman'],
  ])('%j', async (text, type, words) => {
    expect((await withModel(giving([type, words]))(text)).text).toBe(text);
    expect((await withModel(giving([type, words]))(text, { types: [type] })).text).toContain(`[${type}_1]`);
  });

  test.each<[string, string, string, string]>([
    ['<p>Hello</p>', 'PER', 'p', '<p>Hello</p>'],
    ['<p>Hello</p>', 'BIRTH_DATE', '/p', '<p>Hello</p>'],
    ['<p>Hello</p>', 'PER', '/', '<p>Hello</p>'],
    ['<Mary> hello', 'PER', 'Mary', '<[PER_1]> hello'],
    ['Hi Ann</b> <i class="x">Bell', 'PER', 'Ann</b> <i class="x">Bell', 'Hi [PER_1]</b> <i class="x">[PER_2]'],
    ['| Ann Bell | keeper |', 'PER', '| Ann Bell |', '| [PER_1] | keeper |'],
    ['| Ann |\n|---|\n| Bell |', 'PER', 'Ann |\n|---|\n| Bell', '| [PER_1] |\n|---|\n| [PER_2] |'],
    ['| Oslo | 4,50 |', 'LOC', 'Oslo | 4,50', '| [LOC_1] | 4,50 |'],
    ['a;b\n12,00;5', 'LOC', '00', 'a;b\n12,00;5'],
    ['2025-03-14 09:22:11 WARN disk', 'PHONE', '-14 09', '2025-03-14 09:22:11 WARN disk'],
    ['x,34.50\n1183,y', 'PHONE', '34.50\n1183', 'x,34.50\n1183,y'],
    ['Heat to 180 degrees now', 'LOC', '180 degrees', 'Heat to 180 degrees now'],
    ['haha same, my phone died', 'PER', 'haha same', 'haha same, my phone died'],
    ['mdr pareil, mon tel', 'PER', 'mdr pareil', 'mdr pareil, mon tel'],
    ['lol Kevin is here', 'PER', 'lol Kevin', 'lol [PER_1] is here'],
    ['हाहा रोहन आया', 'PER', 'हाहा रोहन', 'हाहा [PER_1] आया'],
  ])('%j: %s %j', async (text, type, words, expected) => {
    expect((await withModel(giving([type, words]))(text)).text).toBe(expected);
  });

  test('a telephone number keeps its parts', async () => {
    for (const number of ['06 12 48 77 93', '+1\n617 555 0123', '0421 55839'])
      expect((await withModel(giving(['PHONE', number]))(`Ring ${number} now`)).text).toBe('Ring [PHONE_1] now');
  });

  test('words around an address that a pattern has found', async () => {
    const call = withModel(giving(['EMAIL', 'mail a@b.cd']), { defaults: { patterns: true } });
    expect((await call('Please mail a@b.cd today')).text).toBe('Please mail [EMAIL_1] today');
  });

  test('but a name in a string of a program is private, and so is a date of birth', async () => {
    const text = 'const author = "Mary Miller";';
    expect((await withModel(giving(['PER', 'Mary Miller']))(text)).text).toBe('const author = "[PER_1]";');
    expect((await redact('born on 12 March 1990')).text).toBe('born on [BIRTH_DATE_1]');
  });
});
