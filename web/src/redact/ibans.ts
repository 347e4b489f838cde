// International bank account numbers (ISO 13616): the countries of the registry and the form of their account numbers.

/** A form, as counts of digits (n), letters (a) and either (c), and the countries that use it. The registry's release 101. */
const kForms =
  '16n ATBAEELTMNXK,18n CRDEMERSVA,20n CZESSESKTN,14n DKFIFOGLSD,19n AEILSOTL,23n BIDJMR,4a20n HNNISV,21n LYPTST,8n16c ALCY,5n12c CHLI,' +
  '10n11c2n FRMC,4a14n GBIE,24n HUPL,1a10n12c ITSM,4a4n18c JOYE,3n13c KZLU,4a16c PKRO,4a21c PSQA,8n12c AD,4a20c AZ,12n BE,4a6n8c BG,' +
  '4a14c BH,23n1a1c BR,4c4n16c BY,4c20n DO,25n EG,2a12n FK,2a16n GE,4a15c GI,7n16c GR,24c GT,17n HR,4a15n IQ,22n IS,4a22c KW,4n20c LB,' +
  '4a24c LC,4a13c LV,20c MD,3n10c2n MK,4a5n18c MT,4a19n3a MU,4a10n NL,11n NO,3n16c OM,14n15c RU,2n18c SA,4a20n3a SC,15n SI,6n16c TR,' +
  '6n19c UA,4a16n VG';

/** For each country, the kinds of all characters: 'aann' and those of the account number. */
const kKinds: ReadonlyMap<string, string> = new Map(
  kForms.split(',').flatMap((line) => {
    const [form = '', countries = ''] = line.split(' ');
    const kinds = [...form.matchAll(/(\d+)([nac])/g)].map(([, count, kind]) => kind!.repeat(Number(count))).join('');
    return countries.match(/../g)!.map((country): [string, string] => [country, `aann${kinds}`]);
  }),
);

/** The number of characters of an IBAN that begins with `code`, or undefined if no country has this prefix. */
export function ibanLength(code: string): number | undefined {
  return kKinds.get(code.slice(0, 2).toUpperCase())?.length;
}

const kLookAlikes: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1' };

/** Returns the code in capitals, with digits for the letters O, I and l where only digits may stand; undefined if it has no country's form. */
export function ibanCode(code: string): string | undefined {
  const capitals = code.toUpperCase();
  const kinds = kKinds.get(capitals.slice(0, 2));
  if (kinds?.length !== capitals.length) return undefined;
  let result = '';
  for (let i = 0; i < kinds.length; ++i) {
    const char = kinds[i] === 'n' ? (kLookAlikes[capitals[i]!] ?? capitals[i]!) : capitals[i]!;
    if (!(kinds[i] === 'n' ? /\d/ : kinds[i] === 'a' ? /[A-Z]/ : /[A-Z\d]/).test(char)) return undefined;
    result += char;
  }
  return result;
}

/** Whether the check digits are right: remainder 1 modulo 97. */
export function isIban(code: string): boolean {
  let remainder = 0;
  for (const char of code.slice(4) + code.slice(0, 4)) {
    const value = Number.parseInt(char, 36); // A is 10, B 11, ...
    remainder = (remainder * (value < 10 ? 10 : 100) + value) % 97;
  }
  return remainder === 1;
}
