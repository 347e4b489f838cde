// Values that follow the name of a field in a sentence: 'my address is 5 High Street', 'ich heiße Jörg Bach', '我叫王伟'.
import type { PatternMatch } from '../pattern_names.js';
import { kBefore } from './cues.js';

/** A sentence that introduces a value: `lead` ends where the value begins, and `value` matches at that index. */
interface Saying {
  type: string;
  lead: RegExp;
  value: RegExp;
}

const kMy = '(?:my|our|his|her|their|the)';
const kIs = "(?: is|'s)?[: ]";
/** The values end where a word of another form follows. */
const kNameWord = "\\p{Lu}[\\p{L}\\p{M}'’-]*";
const kParticle = '(?:de|da|di|del|della|do|dos|van|von|der|den|ter|bin|al|el|la|le|du|y|e)';
const kNotNames = '(?!(?:Sie|Euch|Dich|Ihnen|Programm|Not|On|In|The|It|And|Und|Et|Y|Je|Ich|I|Por|Ja|OK|Unknown)(?![\\p{L}\\p{M}]))';
const kName = `${kNotNames}${kNameWord}(?: (?:${kParticle} ){0,2}${kNameWord}){0,3}`;

const kNameLeads = [
  "(?:my|his|her) (?:full |first |last |middle |maiden |given |family )?(?:sur)?name(?:'s| is)",
  "(?:i am|i'm|he is|she is) called",
  '(?:mein|sein|ihr) (?:(?:vor|nach|familien|mädchen)?name) (?:ist|lautet)',
  '(?:ich hei(?:ß|ss)e|(?:er|sie) hei(?:ß|ss)t)',
  "(?:je m'|(?:il|elle) s')appelle",
  '(?:mon|son) (?:nom|prénom)(?: complet| de famille)? est',
  '(?:me llamo|se llama|(?:mi|su) (?:nombre|apellido)(?: completo)? es)',
  '(?:(?:mi|si) chiam[oa]|(?:il )?(?:mio|suo) (?:nome|cognome) è)',
  '(?:(?:me|se) cham[oa]|cham[oa]-(?:me|se)|(?:o )?(?:meu|seu) (?:nome|apelido|sobrenome)(?: completo)? é)',
  '(?:(?:ik|hij|zij|ze) heet|(?:mijn|zijn|haar) (?:(?:voor|achter)?naam) is)',
  '(?:nazywa(?:m)? się|(?:mam|ma) na imię|(?:moje|jego|jej) (?:imię|nazwisko)(?: to)?)',
  '(?:(?:benim )?(?:adım|soyadım|ismim))',
  '(?:(?:меня|его|её|ее) зовут|(?:моя|его|её) фамилия|мо[её] имя)',
];

/** Words with a capital or a number, and the words of streets between them. */
const kStreetWord =
  '(?:street|road|avenue|lane|drive|close|court|square|way|terrace|place|crescent|flat|apartment|apt|unit|suite|floor|no:?|nr:?|rue|boulevard|bd|allée|impasse|chemin|quai|bis|ter|calle|c/|avenida|avda|paseo|plaza|piso|puerta|via|viale|corso|piazza|vicolo|rua|travessa|largo|praça|bairro|straße|strasse|weg|platz|gasse|ulica|ul|aleja|al|os|m|mahallesi|mah|sokak|sok|cadde(?:si)?|cad|daire:?|d:|улица|ул|дом|д|кв|квартира|проспект|пр|г|переулок|корп|de|des|du|la|le|les|del|los|las|di|della|dei|do|da|dos|das|van|der|den|het|am|an|im|auf|zum|zur|of|the)\\.?';
const kAddressWord = `(?:${kNameWord}(?:(?<=str|Str|St|Rd|Ave|Av|Blvd|Pl|Ul|Sq|Dr|Ln)\\.)?|[\\d\\p{Lu}]{0,3}\\d[\\d\\p{Lu}]{0,5}(?:[/-]\\d+)?\\p{L}?(?![\\p{L}\\d])|${kStreetWord}(?![\\p{L}\\d]))`;
const kAddress = `(?=[^\\n!?;]{0,90}\\d)${kAddressWord}(?:(?:, ?| )${kAddressWord}){1,13}`;

const kAddressLeads = [
  `${kMy} (?:new |home |postal |street |billing |delivery |shipping |mailing |current |old )?(?:address|street)(?: is|'s| was)(?: now)?`,
  "(?:i|we|he|she|they)(?:'ve)?(?: now| just| still)? (?:lives?|stay|resides?|am staying) (?:at|on|in)",
  '(?:mein|unser|sein|ihr|die|neue)e? (?:neue )?(?:adresse|anschrift|straße|lieferadresse)(?: ist| lautet| war)(?: jetzt)?',
  '(?:wohn(?:e|en|t)|leb(?:e|en|t))(?: ich| wir| er| sie)?(?: jetzt| seit \\p{L}+)? (?:in|im|am|an|auf|zur|zum)(?: der| dem| den)?',
  "(?:mon|notre|son|l')(?: nouvelle)? ?adresse est(?: le| la| au)?",
  "(?:j'habite|j'habite maintenant|nous habitons|(?:il|elle) habite|je vis|je réside)(?: maintenant)?(?: au| à| dans| sur)?(?: la| le)?",
  '(?:(?:mi|nuestra|su|la) (?:nueva )?(?:dirección|calle)(?: es)|(?:vivo|vivimos|vive|resido)(?: ahora)? en)',
  '(?:(?:il )?(?:mio|nostro|suo|nuovo) (?:nuovo )?indirizzo è|(?:abit(?:o|iamo|a)|viv(?:o|iamo|e)|risiedo)(?: ora)? (?:in|a|al|alla))',
  '(?:(?:o |a )?(?:meu|minha|nosso|nossa) (?:nov[oa] )?(?:endereço|morada) é|(?:mor(?:o|amos|a)|viv(?:o|emos|e)|resido)(?: agora)? (?:na|no|em))',
  '(?:(?:mijn|ons|zijn|haar|het) (?:nieuwe )?adres is|(?:ik woon|wij wonen|we wonen|(?:hij|zij) woont)(?: nu)? (?:op|aan|in)(?: de| het)?)',
  '(?:(?:mój|nasz|jego|jej) (?:nowy )?adres to|mieszka(?:m|my)?(?: teraz)? (?:przy|na|w)(?: ulicy)?)',
  '(?:(?:ev )?adresim(?:iz)?)',
  '(?:(?:мой|наш|его|её) (?:новый )?адрес|(?:жив(?:у|[её]м|[её]т)|прожива(?:ю|ем|ет))(?: на| по адресу| в)?)',
];

const kPostcodeLeads = [
  `(?:${kMy} )?(?:zip(?: ?code)?|post ?code|postal code|pin code)(?: is|'s)`,
  '(?:plz|postleitzahl)(?: ist| lautet)?',
  'code postal(?: est)?(?: le)?',
  'código postal (?:es|é)',
  '(?:il )?(?:mio )?cap è',
  'cep é',
  'postcode is',
  'kod pocztowy(?: to)?',
  'posta kodu(?:m|muz)?',
  'почтовый индекс',
];
const kPostcodeLeadsInside = ['(?:邮编|邮政编码|郵便番号)[是为はが]?', '우편번호[는가]?', 'पिन ?कोड(?: है)?', 'الرمز البريدي(?: هو)?'];
const kPostcode = '(?=[A-Za-z]{0,2}[A-Za-z -]?\\d)[A-Za-z\\d]{2,6}(?:[ -]?\\d[A-Za-z\\d]{1,4})?(?![\\p{Script=Latin}\\d%])';

const kNumberLeads = [
  `(?:${kMy} )?(?:passport|driv(?:ing|er'?s?) licen[cs]e|licen[cs]e|id|identity card|insurance|tax|social security|membership|member|account|patient|student|employee)(?: card| account| policy)? (?:number|no\\.?|id)${kIs}`,
  '(?:personal|reise|führerschein|steuer|sozialversicherungs|versicherungs|versicherten|konto|mitglieds|matrikel|patienten)?-?(?:ausweis|pass|führerschein|konto|steuer)?-?(?<=\\p{L}-?)(?:nummer|nr\\.?|-id)(?: ist| lautet)?',
  "(?:numéro|n°) (?:de |d')(?:mon )?(?:passeport|permis|carte d'identité|sécurité sociale|compte)(?: est)?(?: le)?",
  '(?:número|n[.º°]+) (?:de |do |da )?(?:mi )?(?:pasaporte|passaporte|dni|carnet|cuenta|conta|cpf|rg|seguridad social|licencia|cartão de cidadão)(?: es| é)?(?: el)?',
  "(?:numero|n\\.) (?:di |del |della )?(?:mio )?(?:passaporto|patente|carta d'identità|conto|tessera sanitaria)(?: è)?",
  '(?:paspoort|rijbewijs|rekening|identiteitskaart|verzekerings|lidmaatschaps|bsn-?)(?:nummer)(?: is)?',
  '(?:numer|nr) (?:mojego )?(?:paszportu|dowodu(?: osobistego)?|konta|pesel|prawa jazdy|legitymacji)(?: to)?',
  '(?:pasaport|kimlik|hesap|ehliyet) (?:no|numaram|numarası)',
  '(?:номер )?(?:паспорт\\p{L}*|сч[её]т\\p{L}*|(?:водительск\\p{L}* )?удостоверени\\p{L}*|снилс|инн|полис\\p{L}*)(?: номер| №)?',
];
const kNumberLeadsInside = [
  'رقم (?:الجواز|جواز السفر|جوازي|الهوية|هويتي|الحساب|حسابي)(?: هو)?',
  '(?:आधार|पासपोर्ट|पैन|खाता|लाइसेंस|मतदाता)(?: कार्ड)?(?: नंबर| संख्या)?(?: है)?',
  '(?:身份证|护照|驾照|驾驶证|社保|学|工|账|帐|卡|会员卡?)号码?[是为]?',
  '(?:パスポート|免許証?|マイナンバー|口座|会員|学生証|保険証)(?:の?番号)?[はが]?',
  '(?:여권|주민등록|면허|계좌|사원) ?번호[는은가]?',
];
const kNumber = '(?=(?:[A-Z /-]{0,5}\\d){5})[A-Z\\d](?:[ /-]?[A-Z\\d]){4,25}(?![\\p{Script=Latin}\\d])';

/** One word at the end of a clause. The words of `kNotSecret` describe a password or a name. */
const kNotSecret =
  '(?!(?:\\p{Ll}+ed|wrong|correct|incorrect|right|expired|invalid|valid|weak|strong|secure|insecure|safe|unsafe|required|missing|empty|blank|gone|lost|forgotten|different|unique|stored|saved|hidden|changed|reset|blocked|locked|compromised|leaked|unknown|optional|visible|private|secret|public|here|there|below|above|taken|broken|working|disabled|not|too|in|on|the|old|new|long|short|falsch|richtig|abgelaufen|ungültig|weg|sicher|unsicher|geheim|gesperrt|vergessen|leer|alt|neu|zurückgesetzt|geändert|bekannt|faux|incorrecte?|correcte?|expirée?|invalide|perdue?|oubliée?|sûr|faible|incorrect[oa]|correct[oa]|caducad[oa]|olvidad[oa]|perdid[oa]|segur[oa]|débil|sbagliat[oa]|scadut[oa]|dimenticat[oa]|errad[oa]|expirad[oa]|esquecid[oa]|fraca|verlopen|vergeten|onjuist|juist|fout|veilig)(?![\\p{L}\\d]))';
const kEndOfClause =
  '(?=[.,!?;)"\'”]*(?:\\s*$|\\n|[.,!?;]\\s)| (?:and|und|et|y|e|en|but|aber) (?:my|the|mein|das|mon|mi|la|il|o|a|mijn|i) )';
const kOneWord = `["“'«]?(?<detail>${kNotSecret}[\\p{L}\\d][^\\s"'”»,;]{2,60}?)${kEndOfClause}`;
const kSecretLeads = [
  '(?:my|our) (?:old |new |wifi |wi-fi |email )?(?:password|passphrase|passcode|pin)(?: is| was)',
  '(?:mein|unser) (?:altes |neues )?(?:passwort|kennwort|pin)(?: ist| lautet| war)',
  '(?:mon|notre) (?:nouveau )?(?:mot de passe|code secret)(?: est)',
  '(?:mi|nuestra) (?:contraseña|clave)(?: es)',
  '(?:la )?mia (?:password|parola chiave)(?: è)',
  '(?:a )?minha (?:senha|palavra-passe)(?: é)',
  '(?:mijn|ons) (?:wachtwoord|pincode)(?: is)',
];
const kUserLeads = [
  '(?:my|his|her) (?:user ?name|login|handle|nick(?:name)?|gamertag|screen name|user id)(?: is)',
  '(?:mein|ihr|sein) (?:benutzername|nutzername|spitzname|login)(?: ist| lautet)',
  "(?:mon|son) (?:nom d'utilisateur|identifiant|pseudo)(?: est)",
  '(?:mi|su) (?:usuario|nombre de usuario|apodo)(?: es)',
  '(?:il )?mio (?:nome utente|soprannome)(?: è)',
  '(?:o )?meu (?:usuário|nome de usuário|apelido no app)(?: é)',
  '(?:mijn|zijn|haar) (?:gebruikersnaam|bijnaam)(?: is)',
];
/** Introduces secrets that contain a digit or a sign. */
const kCodeLeads = [
  'şifrem',
  '(?:мой )?пароль',
  '(?:我的)?密码[是为:]?',
  'パスワードは',
  '비밀번호[는은]',
  '(?:मेरा )?पासवर्ड',
  'كلمة (?:السر|المرور)(?: هي)?',
  'moje hasło to',
  'il mio codice segreto è',
];
const kCode = '(?=[!-~]{0,30}[\\d!#$%&*+@_])[!-~]{4,60}(?<![.,!?])';

const kHan = '\\p{Script=Han}';
const kKana = '[\\p{Script=Han}\\p{Script=Katakana}\\p{Script=Hiragana}ー]';

function sayings(type: string, leads: readonly string[], value: string): Saying {
  return {
    type,
    lead: new RegExp(`${kBefore}(?<![\\p{L}\\p{M}])(?:${leads.join('|')})[: ]? ?["“«]?(?=\\S)`, 'giu'),
    value: new RegExp(value, 'yud'),
  };
}

/** Leads of scripts without spaces between words may follow a letter. */
function inside(type: string, lead: string, value: string): Saying {
  return { type, lead: new RegExp(`(?:${lead})[: ]? ?[「“]?`, 'giu'), value: new RegExp(value, 'yud') };
}

const kSayings: readonly Saying[] = [
  sayings('PER', kNameLeads, kName),
  sayings('LOC', kAddressLeads, kAddress),
  sayings('LOC', kPostcodeLeads, kPostcode),
  inside('LOC', kPostcodeLeadsInside.join('|'), kPostcode),
  sayings('ID', kNumberLeads, kNumber),
  inside('ID', kNumberLeadsInside.join('|'), kNumber),
  sayings('KEY', kSecretLeads, kOneWord),
  sayings('ID', kUserLeads, kOneWord),
  inside('KEY', kCodeLeads.join('|'), kCode),
  inside(
    'PER',
    '我(?:的名字)?叫|我的名字是|(?<!\\p{L})(?:他|她)叫|英文名[是叫]',
    `(?![了你我他她它们醒不人来去车外救做这那])${kHan}{2,4}(?=[,，。.!！、\\s;；]|$|住|今年|来自)|[A-Z][a-z]+(?: [A-Z][a-z]+)?`,
  ),
  inside('PER', '名前は|(?:私|わたし|僕|俺)は', `${kKana}{1,10}?(?: ${kKana}{1,6})?(?=と申します|といいます|と言います)`),
  inside('PER', '名前は', `(?!\\p{L}{0,6}(?:ない|秘密|未定|不明|必須))${kKana}{2,10}?(?: ${kKana}{1,6}?)?(?=です(?!か)|だよ|でございます)`),
  inside('PER', '(?:제|내|저의) 이름은', '[가-힣]{2,4}?(?=입니다|이에요|예요|이고|이야|야|이라고)'),
  inside(
    'PER',
    '(?:मेरा|मेरी बेटी का|मेरे बेटे का|उनका|उसका) (?:पूरा )?नाम',
    '[\\p{Script=Devanagari}]{2,20}(?: [\\p{Script=Devanagari}]{2,20}){0,2}?(?= (?:है|हैं|हूँ))',
  ),
  inside(
    'PER',
    '(?<!\\p{L})اسمي(?: هو| الكامل)?',
    '[\\p{Script=Arabic}]{2,20}(?: (?:بن |بنت |أبو |عبد )?(?!و[أنيتس])(?:ال)?[\\p{Script=Arabic}]{3,20})?(?=[,،.!؟\\s]|$)',
  ),
];

/** Searches for values that a sentence introduces by their names, one for each kind of sentence. */
export const kFindSayings = kSayings.map((saying) => (text: string) => valuesOf(saying, text));

function valuesOf({ type, lead, value }: Saying, text: string): PatternMatch[] {
  return [...text.matchAll(lead)].flatMap(({ 0: words, index }) => {
    value.lastIndex = index + words.length;
    const { indices } = value.exec(text) ?? {};
    if (indices === undefined) return [];
    const [start, end] = indices.groups?.detail ?? indices[0]!;
    const kept = trimmed(text.slice(start, end), type);
    return kept.length === 0 ? [] : [{ type, start, end: start + kept.length }];
  });
}

/** Removes words of streets at the end ('in the', 'am'). An address has a number. */
function trimmed(value: string, type: string): string {
  if (type !== 'LOC') return value.replace(/[.,!?]+$/, '');
  let kept = value;
  for (let next = ''; next !== kept; ) {
    next = kept;
    kept = next.replace(/[ ,]+(?:\p{Ll}{1,3}|des|der|den|the|von|auf|zum|zur|del|los|las|dei|della)?\.?$/u, '');
  }
  return /\d/.test(kept) ? kept : '';
}
