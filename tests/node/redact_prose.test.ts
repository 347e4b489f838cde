// Values that a sentence introduces by their names, and names next to a form of address; and sentences with the same words that stay.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findPatterns } from '../../web/src/redact/patterns.js';
import { found } from './support/found_details.js';

function finds(cases: [text: string, details: string[]][]): void {
  test.each(cases)('%s', (text, details) => expect(found(text)).toEqual(details));
}

function leaves(texts: string[]): void {
  test.each(texts)('%s stays', (text) => expect(found(text)).toEqual([]));
}

describe('values in prose', () => {
  finds([
    ['My street is Oakwood Lane 12 and my zip is 90210.', ['LOC Oakwood Lane 12', 'LOC 90210']],
    ['I live at 12 Rose Close, Leeds, near the station.', ['LOC 12 Rose Close, Leeds']],
    ['Meine Adresse lautet Hauptstr. 5, 10115 Berlin. Bitte klingeln.', ['LOC Hauptstr. 5, 10115 Berlin']],
    ['Ich wohne in der Lindenallee 17b und habe zwei Katzen.', ['LOC Lindenallee 17b']],
    ['el código postal es 28013', ['LOC 28013']],
    ['Mi dirección es Calle de Alcalá 45, 3º B, 28014 Madrid', ['LOC Calle de Alcalá 45, 3º B, 28014 Madrid']],
    ["J'habite au 12 rue des Lilas, 69003 Lyon, et je travaille ici.", ['LOC 12 rue des Lilas, 69003 Lyon']],
    ['Abito in Via Garibaldi 8, Torino', ['LOC Via Garibaldi 8, Torino']],
    ['Moro na Rua das Flores 33, Coimbra', ['LOC Rua das Flores 33, Coimbra']],
    ['ik woon op de Kerkstraat 12', ['LOC Kerkstraat 12']],
    ['mieszkam przy ulicy Długiej 5, 00-238 Warszawa', ['LOC Długiej 5, 00-238 Warszawa']],
    ['мой адрес ул. Ленина, д. 5, кв. 12, Москва', ['LOC ул. Ленина, д. 5, кв. 12, Москва']],
    ['郵便番号は150-0041です', ['LOC 150-0041']],
    ['my password is hunter', ['KEY hunter']],
    ['The password is hunter2!', ['KEY hunter2']],
    ['Mi contraseña es perrito', ['KEY perrito']],
    ['我的密码是abc123', ['KEY abc123']],
    ['My username is bluewhale.', ['ID bluewhale']],
    ['My passport number is C01X00T47. Meine Kontonummer lautet 12345678.', ['ID C01X00T47', 'ID 12345678']],
    ['护照号码是E12345678', ['ID E12345678']],
    ['My name is Mary Ann Miller, nice to meet you', ['PER Mary Ann Miller']],
    ['Ich heiße Jörg Bach und bin neu.', ['PER Jörg Bach']],
    ["Je m'appelle Élodie, me llamo Nuria Pons, mi chiamo Gino", ['PER Élodie', 'PER Nuria Pons', 'PER Gino']],
    ['меня зовут Ольга Петрова', ['PER Ольга Петрова']],
    ['我叫王伟，住在北京', ['PER 王伟']],
    ['名前は山田太郎です。', ['PER 山田太郎']],
    ['제 이름은 박서연입니다.', ['PER 박서연']],
    ['मेरा नाम राहुल वर्मा है।', ['PER राहुल वर्मा']],
    ['اسمي سامر حداد', ['PER سامر حداد']],
  ]);

  leaves([
    'my street is noisy. The address is 0x7ffe and the id is 5.',
    'the password is required. My password is wrong. My PIN is unlocked, my login is broken',
    'I live at home with two dogs. We live in a quiet street. I live in 3 different cities.',
    'My name is on the list. Ich heiße Sie willkommen. Mein Name ist Programm.',
    'la clave es segura, mi contraseña es incorrecta, le code postal est faux',
    'Ich wohne in einem Haus mit 3 Zimmern.',
    'The passport number is missing, the account number is wrong.',
    '名前は必須です。お名前は何ですか？ 我叫了出租车。',
  ]);
});

describe('dates of birth', () => {
  finds([
    ['doğum tarihi: 12.08.1953, 12 Ağustos 1953 doğumlu', ['BIRTH_DATE 12.08.1953', 'BIRTH_DATE 12 Ağustos 1953']],
    ['1951年6月2日出生，昨天出院。2023年5月1日生活费', ['BIRTH_DATE 1951年6月2日']],
    ['（1949年3月8日生まれ）は昨日退院。2020年3月8日に会議。', ['BIRTH_DATE 1949年3月8日']],
    ['जन्म 5 मई 1951, कल', ['BIRTH_DATE 5 मई 1951']],
    ['مواليد 3 مايو 1980 والاجتماع 4 مايو 2024', ['BIRTH_DATE 3 مايو 1980']],
    ['родилась 17 февраля 1944 года. Встреча 17 февраля 2024 года.', ['BIRTH_DATE 17 февраля 1944']],
    ['1988년 5월 6일생, 회의는 2024년 5월 6일', ['BIRTH_DATE 1988년 5월 6일']],
  ]);
});

describe('names next to a form of address', () => {
  finds([
    ['Dear Mr Miller and Mrs. van der Berg', ['PER Miller', 'PER van der Berg']],
    ['Frau Dr. Seidel und Herr Krüger', ['PER Dr. Seidel', 'PER Krüger']],
    ['Mme Fontaine, Sra. Pons, Sig.ra Bianchi, Pani Nowak', ['PER Fontaine', 'PER Pons', 'PER Bianchi', 'PER Nowak']],
    ['Sayın Ayşe Yılmaz, Mehmet Bey', ['PER Ayşe Yılmaz', 'PER Mehmet']],
    ['г-жа Петрова', ['PER Петрова']],
    ['須藤さん、神田様、野村先生', ['PER 須藤', 'PER 神田', 'PER 野村']],
    ['佐藤さん、グエン様、けんちゃん', ['PER 佐藤', 'PER グエン', 'PER けんちゃん']],
    ['请问周先生在吗？王总、小李，', ['PER 周', 'PER 王', 'PER 小李']],
    ['김민준 씨가 왔어요', ['PER 김민준']],
    ['श्री शर्मा जी', ['PER शर्मा']],
    ['السيد أحمد المصري وصل', ['PER أحمد المصري']],
  ]);

  leaves([
    '皆さん、お客様、お母さん、店員さん、古本屋さん、酒屋さん、赤ちゃん、パパさん、様々な様子',
    '总是、何必、老师、小时候、医生、一位先生',
    '고객님 안녕하세요, 선생님, 날씨',
    'Herr Direktor, Mr President, Madame la directrice, Sr. Director',
    'माँ जी, श्री मान, السيد الرئيس',
  ]);
});

test('the Universal Declaration of Human Rights in six languages has no names and addresses', () => {
  const texts = JSON.parse(readFileSync(new URL('../fixtures/redact/udhr.json', import.meta.url), 'utf8')) as Record<string, string>;
  for (const text of Object.values(texts)) expect(findPatterns(text, ['FIELD'])).toEqual([]);
});
