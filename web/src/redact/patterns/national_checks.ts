// Check digits of national numbers, each as in python-stdnum. A code contains only digits and capitals.

const digits = (code: string) => [...code].map(Number);
const last = (code: string) => Number(code.at(-1));

/** The sum of digits with weights, which are digits in base 36. */
function weighted(code: string, weights: string): number {
  return [...weights].reduce((total, weight, i) => total + Number.parseInt(weight, 36) * Number(code[i]), 0);
}

function isDay(month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/** Whether four digits are a month (after subtracting multiples of `shift`) and a day. */
function isMonthAndDay(code: string, at: number, shift = 100): boolean {
  return isDay(Number(code.slice(at, at + 2)) % shift, Number(code.slice(at + 2, at + 4)));
}

export function luhn(code: string): boolean {
  const doubled = digits(code)
    .reverse()
    .map((digit, i) => (i % 2 === 0 ? digit : digit < 5 ? 2 * digit : 2 * digit - 9));
  return doubled.reduce((a, b) => a + b, 0) % 10 === 0;
}

export function spanish(code: string): boolean {
  const number = code.slice(0, -1).replace('X', '').replace('Y', '1').replace('Z', '2');
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[Number(number) % 23] === code.at(-1);
}

/** In base 36. */
const kOddValues = '10579dfhjl24ikb368cegampon';

export function italian(code: string): boolean {
  const value = (char: string) => (/\d/.test(char) ? Number(char) : char.charCodeAt(0) - 65);
  const total = [...code.slice(0, 15)].reduce(
    (all, char, i) => all + (i % 2 === 0 ? Number.parseInt(kOddValues[value(char)]!, 36) : value(char)),
    0,
  );
  return total % 26 === value(code[15]!);
}

/** Corsica's departments 2A and 2B count as 19 and 18. */
export function french(code: string): boolean {
  const number = Number(code.slice(0, 13).replace('2A', '19').replace('2B', '18'));
  return 97 - (number % 97) === Number(code.slice(13));
}

/** For births since 2000, the number is checked with a 2 before it. */
export function belgian(code: string): boolean {
  const number = Number(code.slice(0, 9));
  return isMonthAndDay(code, 2, 20) && [0, 2e9].some((century) => 97 - ((number + century) % 97) === Number(code.slice(9)));
}

/** Among the first ten digits one occurs twice or three times, the others at most once. Then ISO/IEC 7064, MOD 11,10. */
export function german(code: string): boolean {
  const counts = Array.from({ length: 10 }, (_, digit) => code.slice(0, 10).split(String(digit)).length - 1);
  const repeated = counts.filter((count) => count > 1);
  let product = 10;
  for (const digit of digits(code.slice(0, 10))) product = (((digit + product) % 10 || 10) * 2) % 11;
  return code[0] !== '0' && repeated.length === 1 && repeated[0]! <= 3 && (11 - product) % 10 === last(code);
}

export function polish(code: string): boolean {
  return isMonthAndDay(code, 2, 20) && weighted(code, '13791379131') % 10 === 0;
}

/** In coordination numbers, 60 is added to the day. */
export function swedish(code: string): boolean {
  const number = code.slice(-10);
  return isDay(Number(number.slice(2, 4)), Number(number.slice(4, 6)) % 60) && luhn(number);
}

export function finnish(code: string): boolean {
  const tail = code.slice(-4);
  const check = '0123456789ABCDEFHJKLMNPRSTUVWXY'[Number(code.slice(0, 6) + tail.slice(0, 3)) % 31];
  return isDay(Number(code.slice(2, 4)), Number(code.slice(0, 2))) && check === tail[3];
}

export function norwegian(code: string): boolean {
  const isDate = isDay(Number(code.slice(2, 4)) % 40, Number(code.slice(0, 2)) % 40);
  const first = weighted(code, '3761894521') % 11;
  return isDate && first === 0 && weighted(code, '54327654321') % 11 === 0;
}

/** For women, 50 is added to the month; a further 20 if the numbers of a day are exhausted. */
export function czech(code: string): boolean {
  const month = Number(code.slice(2, 4)) % 50;
  return isDay(month > 20 ? month - 20 : month, Number(code.slice(4, 6))) && Number(code) % 11 === 0;
}

export function romanian(code: string): boolean {
  const check = weighted(code, '279146358279') % 11;
  return isMonthAndDay(code, 3) && (check === 10 ? 1 : check) === last(code);
}

export function bulgarian(code: string): boolean {
  return isMonthAndDay(code, 2, 20) && (weighted(code, '2485a9736') % 11) % 10 === last(code);
}

/** Estonia and Lithuania. */
export function baltic(code: string): boolean {
  const first = weighted(code, '1234567891') % 11;
  const second = weighted(code, '3456789123') % 11;
  return isMonthAndDay(code, 3) && (first < 10 ? first : second % 10) === last(code);
}

/** An EAN-13 number with the country's prefix 756. */
export function swiss(code: string): boolean {
  return weighted(code, '1313131313131') % 10 === 0;
}

export function turkish(code: string): boolean {
  const tenth = weighted(code, '797979797') % 10; // a remainder of 9 means -1
  return tenth === Number(code[9]) && weighted(code, '1111111111') % 10 === last(code);
}

export function brazilian(code: string): boolean {
  const check = (length: number) => ((weighted(code, 'ba98765432'.slice(-length)) * 10) % 11) % 10;
  return !/^(\d)\1*$/.test(code) && check(9) === Number(code[9]) && check(10) === last(code);
}

export function chilean(code: string): boolean {
  const reversed = [...code.slice(0, -1)].reverse().join('');
  return '0K987654321'[weighted(reversed, '23456723'.slice(0, reversed.length)) % 11] === code.at(-1);
}

const kMexican = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ';

export function mexican(code: string): boolean {
  const total = [...code.slice(0, 17)].reduce((all, char, i) => all + (18 - i) * kMexican.indexOf(char), 0);
  return isMonthAndDay(code, 6) && (10 - (total % 10)) % 10 === last(code);
}

export function chinese(code: string): boolean {
  const remainder = weighted(code, '79a584216379a5842') % 11;
  return isMonthAndDay(code, 10) && '10X98765432'[remainder] === code[17];
}

export function korean(code: string): boolean {
  return isMonthAndDay(code, 2) && (11 - (weighted(code, '234567892345') % 11)) % 10 === last(code);
}

export function southAfrican(code: string): boolean {
  return isMonthAndDay(code, 2) && luhn(code);
}

/** Verhoeff's algorithm, with the dihedral group of order 10. */
export function indian(code: string): boolean {
  const times = (a: number, b: number) => (a < 5 ? ((a + b) % 5) + (b < 5 ? 0 : 5) : b < 5 ? ((a - b) % 5) + 5 : (a - b + 5) % 5);
  const permutation = '1576283094';
  let check = 0;
  for (const [i, digit] of digits(code).reverse().entries()) {
    let moved = digit;
    for (let power = 0; power < i % 8; ++power) moved = Number(permutation[moved]);
    check = times(check, moved);
  }
  return check === 0;
}

export function dutch(code: string): boolean {
  return weighted(code, '98765432a') % 11 === 0;
}

export function portuguese(code: string): boolean {
  const remainder = weighted(code, '98765432') % 11;
  return (remainder < 2 ? 0 : 11 - remainder) === last(code);
}

export function australian(code: string): boolean {
  const weights = code.length === 8 ? 'a7846351' : '14375869a';
  return weighted(code, weights) % 11 === 0;
}

export function british(code: string): boolean {
  return (11 - (weighted(code, 'a98765432') % 11)) % 11 === last(code);
}
