// Values that are private because of their name: keys of JSON, heads of CSV, key=value lines, mail headers, signatures.
import type { PatternMatch } from '../pattern_names.js';

/** Names of fields by the type of their values, without case, spaces and punctuation: 'lastName' and 'last_name' are 'lastname'. */
const kNames: Readonly<Record<string, string>> = {
  PER:
    'firstname givenname forename middlename lastname surname familyname maidenname fullname displayname contactname customername clientname ' +
    'employeename patientname cardholder cardholdername accountholder recipient recipientname sender sendername author authorname assignee ' +
    'vorname nachname familienname vollername ansprechpartner empfaenger empfänger kunde name1 prenom prénom nomdefamille nomcomplet apellido ' +
    'apellidos primerapellido nombrecompleto cognome nomecognome sobrenome nomecompleto voornaam achternaam imie imię nazwisko imya фамилия имя ' +
    '姓名 名字 氏名 名前 お名前 フリガナ 이름 성명 ad soyad adsoyad adısoyadı isim नाम पूरानाम उपनाम الاسم الاسمالكامل اسمالعائلة фио отчество 收件人 联系人',
  LOC:
    'street streetaddress streetname addressline addressline1 addressline2 address1 address2 address homeaddress billingaddress shippingaddress ' +
    'postaladdress mailingaddress zip zipcode postcode postalcode city town hometown residence strasse straße hausnummer plz postleitzahl ort ' +
    'wohnort stadt anschrift adresse rue codepostal ville calle direccion dirección domicilio codigopostal códigopostal cp ciudad via indirizzo ' +
    'cap citta città rua endereco endereço morada localidade cep cidade straat plaats postcodeplaats woonplaats ulica kodpocztowy miasto adres sehir şehir ilce ilçe mahalle sokak postakodu адрес город улица индекс 地址 住址 城市 邮编 住所 郵便番号 都道府県 주소 우편번호 पता शहर पिनकोड العنوان المدينة الشارع الرمزالبريدي',
  ID:
    'user username userid userlogin login loginname nickname screenname handle account accountname accountid accountnumber customerid employeeid ' +
    'patientid memberid passport passportnumber passportno licensenumber driverlicense drivinglicence idnumber idcard nationalid ssn ' +
    'socialsecuritynumber taxid taxnumber insurancenumber policynumber benutzer benutzername kundennummer kontonummer ausweisnummer ' +
    'utilisateur identifiant usuario utente gebruiker gebruikersnaam uzytkownik kullaniciadi kullanıcıadı логин паспорт снилс инн pesel tckimlikno dni nif cpf codicefiscale 用户名 身份证 身份证号 护照号 ユーザー名 아이디 주민등록번호 आधार पासपोर्ट',
  KEY:
    'password passwd pwd pass passphrase passcode pin token accesstoken refreshtoken authtoken apikey apitoken secret clientsecret secretkey ' +
    'privatekey sessionid sessiontoken bearer passwort kennwort motdepasse contrasena contraseña senha wachtwoord haslo hasło sifre şifre parola пароль 密码 パスワード 비밀번호 पासवर्ड كلمةالمرور كلمةالسر',
  PHONE:
    'phone phonenumber telephone telephonenumber mobile mobilephone mobilenumber cellphone cell fax telefon telefonnummer handy tel telefono teléfono portable cellulare celular telefone telemóvel telefoon komórka ceptelefonu телефон моб 电话 手机 手机号 電話 電話番号 携帯 전화 전화번호 휴대폰 फ़ोन मोबाइल الهاتف الجوال',
  EMAIL: 'email emailaddress mail mailaddress correo courriel eposta почта 邮箱 メール 이메일 ईमेल البريدالإلكتروني',
  BIRTH_DATE:
    'dob birthdate birthday dateofbirth bornon geburtsdatum geburtstag datedenaissance fechadenacimiento datadinascita datanascimento dataurodzenia doğumtarihi датарождения 出生日期 生年月日 생년월일 जन्मतिथि تاريخالميلاد',
};
const kTypes: ReadonlyMap<string, string> = new Map(
  Object.entries(kNames).flatMap(([type, names]) => names.split(' ').map((name): [string, string] => [name, type])),
);

/** Returns the type of a field's values, also with a prefix: 'billing_street', 'DB_PASSWORD', 'customer.lastName'. */
function typeOf(name: string): string | undefined {
  const whole = name.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');
  const parts = name
    .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, '_')
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u);
  return (
    kTypes.get(whole) ??
    kTypes.get(parts.slice(-2).join('')) ??
    (parts.length > 1 && /[_.-]/.test(name) ? kTypes.get(parts.at(-1)!) : undefined)
  );
}

/** Values that say nothing: empty, placeholders, types and expressions of programs. */
export const kNoValue =
  /^(?:null|none|nil|undefined|true|false|yes|no|n\/?a|unknown|string|str|number|int(?:eger)?|text|varchar.*|required|optional|\*+|x+|\.+|-+|<.*>|\$?\{.*\}|\$\w+|%\w+%|\[.*\]|process\.env.*|os\.environ.*|self\..*|this\..*)$/i;

function matchOf(text: string, start: number, end: number, type: string): PatternMatch[] {
  const value = text.slice(start, end);
  const from = start + value.length - value.trimStart().length;
  const to = end - (value.length - value.trimEnd().length);
  const words = text.slice(from, to);
  return from >= to || kNoValue.test(words) || !/[\p{L}\p{N}]/u.test(words) ? [] : [{ type, start: from, end: to }];
}

/** Names of fields that are private next to others of persons: products have names, too. */
const kNameAlone = /^(?:naa?me?|nom(?:br)?e?)$/i;

/** "lastName": "Miller", 'zip': 10115, lastName: "Miller". */
const kPair =
  /(?:"(?<name>[\p{L}_][\p{L}\p{M}\p{N}_ .-]{0,40})"|'(?<single>[\p{L}_][\p{L}\p{M}\p{N}_ .-]{0,40})'|(?<![\p{L}\p{N}_.-])(?<bare>[\p{L}_][\p{L}\p{M}\p{N}_.-]{0,40}))\s{0,3}(?::|=>?)\s{0,3}(?:"(?<value>[^"\n]{1,300})"|'(?<other>[^'\n]{1,300})'|(?<number>\d[\d -]{0,30}\d)(?=\s*[,}\n]|$))/dgu;
/** 'user=mary', in lines, queries and logs. Values in brackets and calls belong to programs. */
const kAssigned =
  /(?<![\p{L}\p{N}_.([-])(?<name>[\p{L}_][\p{L}\p{M}\p{N}_.-]{0,40})=(?<value>[^\s"'=&;,(){}[\]<>]{1,200})(?![\p{L}\p{N}_(.[]|,\s*\w+=|\))/dgu;
/** 'Last name: Miller' as a line, also indented or in a list, as in YAML and forms. */
const kLine =
  /^[ \t>*-]{0,12}(?<name>[\p{L}][\p{L}\p{M}\p{N}_ .-]{0,40}?)\**[ \t]{0,3}[:：][ \t]{0,20}(?<value>[^\s"'{[|>][^\n]{0,160})$/dgmu;

function pairs(text: string): PatternMatch[] {
  const found: PatternMatch[] = [];
  for (const pattern of [kPair, kAssigned, kLine]) {
    for (const { groups = {}, indices, index } of text.matchAll(pattern)) {
      const name = groups.name ?? groups.single ?? groups.bare!;
      const type = typeOf(name) ?? (kNameAlone.test(name) && isOfPerson(text, index) ? 'PER' : undefined);
      if (type === undefined) continue;
      const [start, end] = indices!.groups!.value ?? indices!.groups!.other ?? indices!.groups!.number!;
      if (pattern === kLine && !isLineValue(text.slice(start, end), type)) continue;
      if (text.slice(start, end).toLowerCase() === name.toLowerCase()) continue; // f(user=user)
      found.push(...matchOf(text, start, end, type));
    }
  }
  return found;
}

const kNear = 200;
/** Whether a field of an object stands next to one that only persons have. */
function isOfPerson(text: string, at: number): boolean {
  const object = /[^{}]*$/.exec(text.slice(Math.max(0, at - kNear), at))![0] + /^[^{}]*/.exec(text.slice(at, at + kNear))![0];
  return [...object.matchAll(/["']([^"']+)["']\s*:/g)].some(([, name]) => /[PE][EHM]|BI/.test(typeOf(name!) ?? '')); // PER, PHONE, EMAIL, BIRTH_DATE
}

/** Lines of prose may have a colon, too: 'Address: where you live is your own affair.' */
function isLineValue(value: string, type: string): boolean {
  const words = value.trim().split(/\s+/);
  if (type === 'BIRTH_DATE') return false; // birth_dates.ts finds it
  if (type === 'KEY') return words.length === 1;
  if (/[.!?]\s+\p{Lu}|[;{}]$/u.test(value) || words.length > 9) return false;
  return type === 'PER' || type === 'LOC'
    ? /[\p{Lu}\p{Lo}\d]/u.test(value)
    : type === 'PHONE'
      ? /\d{3}/.test(value)
      : words.length <= 3 || /\d/.test(value);
}

/** Splits a line of CSV. Returns ranges, without the quotes. */
function cells(text: string, start: number, end: number, separator: string): [start: number, end: number][] {
  const found: [number, number][] = [];
  let at = start;
  while (at <= end) {
    if (text[at] === '"') {
      const close = text.indexOf('"', at + 1);
      if (close < 0 || close > end) return [];
      found.push([at + 1, close]);
      at = close + 2;
    } else {
      const next = text.indexOf(separator, at);
      const stop = next < 0 || next > end ? end : next;
      found.push([at, stop]);
      at = stop + 1;
    }
  }
  return found;
}

/** Most columns of a table. */
const kMostColumns = 200;

/** Tables of CSV: a line of names, and below it lines with as many cells. */
function columns(text: string): PatternMatch[] {
  const found: PatternMatch[] = [];
  let heads: { separator: string; types: (string | undefined)[] } | undefined;
  let end = 0;
  for (const { 0: line, index } of text.matchAll(/[^\r\n]+/g)) {
    const isApart = /\n\s*\n/.test(text.slice(end, index));
    end = index + line.length;
    if (heads !== undefined && !isApart) {
      const row = cells(text, index, index + line.length, heads.separator);
      const { types } = heads;
      if (row.length === types.length) {
        for (const [column, [start, end]] of row.entries())
          if (types[column] !== undefined) found.push(...matchOf(text, start, end, types[column]));
        continue;
      }
      heads = undefined;
    }
    if (line.length < 4000) heads = headsIn(line);
  }
  return found;
}

function headsIn(line: string): { separator: string; types: (string | undefined)[] } | undefined {
  const separator = [',', ';', '\t', '|'].find((one) => line.includes(one));
  if (separator === undefined) return undefined;
  const names = line.split(separator).map((name) => name.replaceAll('"', '').trim());
  if (names.length < 2 || names.length > kMostColumns || !names.every((name) => /^[\p{L}_][\p{L}\p{M}\p{N}_ .-]{0,30}$|^$/u.test(name)))
    return undefined;
  const types = names.map((name) => typeOf(name) ?? (kNameAlone.test(name) ? 'PER' : undefined));
  return types.filter((type) => type !== undefined).length >= 2 ||
    (types.some((type) => type !== undefined) && names.every((name) => !/ /.test(name)))
    ? { separator, types }
    : undefined;
}

/** Names before an address in the headers of a mail: 'From: Mary Miller <mary@example.org>'. */
const kHeader =
  /^[>\s*]{0,6}\**(?:from|to|cc|bcc|reply-to|sender|von|an|kopie|de|para|à|da|a|van|aan|od|do|от|кому|发件人|收件人|差出人|宛先)\**[ \t]?[:：]\**[ \t]*(?<list>[^\n]{3,400})$/dgimu;
const kNamedAddress = /(?:^|[,;])\s*"?(?<name>[^"<>,;@\n]{2,60}?(?:, ?[^"<>,;@\n]{2,30})?)"?\s*<[^<>\s@]{1,200}@[^<>\s]{3,200}>/dgu;

function headers(text: string): PatternMatch[] {
  const found: PatternMatch[] = [];
  for (const { groups, indices } of text.matchAll(kHeader)) {
    const [offset] = indices!.groups!.list!;
    for (const each of groups!.list!.matchAll(kNamedAddress)) {
      const [start, end] = each.indices!.groups!.name!;
      found.push(...matchOf(text, offset + start, offset + end, 'PER'));
    }
  }
  return found;
}

/** The name after the closing formula of a letter, on a line of its own. */
const kSignature = new RegExp(
  String.raw`^[ \t>]{0,4}(?:(?:with )?(?:kind|best|warm|many|all the)?[ -]?(?:regards|wishes|thanks|best)|(?:yours )?(?:sincerely|faithfully|truly)|yours|cheers|thank you|thanks(?: again| a lot| so much)?|love|` +
    '(?:mit )?(?:freundlichen?|vielen?|lieben?|besten?|herzlichen?|schönen?) (?:grüßen?|gruß|dank)|mfg|lg|vg|(?:bien )?cordialement|(?:bien à|merci à) (?:vous|toi)|amicalement|(?:un )?(?:cordial )?(?:saludos?|abrazo)(?: cordiale?s?)?|atentamente|' +
    '(?:cordiali|distinti) saluti|un abbraccio|atenciosamente|abraços?|met vriendelijke groet(?:en)?|groet(?:jes|en)?|pozdrawiam|z poważaniem|с уважением|з повагою|με εκτίμηση|此致(?:\\n[ \\t]*敬礼)?|敬礼|祝好|顺祝商祺|敬具|よろしくお願い(?:いた)?します|감사합니다|सादर|saygılarımla|sevgiler|iyi çalışmalar|مع (?:التحية|تحياتي)|تحياتي)' +
    String.raw`[,.!，。]?[ \t]*\n(?:[ \t>]*\n)?[ \t>]{0,4}(?<detail>(?:\p{L}[\p{L}\p{M}.'’-]*[ ]?){1,4})[ \t]*(?=\n|$)`,
  'dgimu',
);

function signatures(text: string): PatternMatch[] {
  return [...text.matchAll(kSignature)].flatMap(({ indices }) => {
    const [start, end] = indices!.groups!.detail!;
    return matchOf(text, start, end, 'PER');
  });
}

export function findFields(text: string): PatternMatch[] {
  return [...pairs(text), ...columns(text), ...headers(text), ...signatures(text)];
}
