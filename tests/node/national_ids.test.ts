// Compares national numbers with python-stdnum (tests/reference/make_national_id_goldens.py).
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as checks from '../../web/src/redact/patterns/national_checks.js';
import { findNationalIds } from '../../web/src/redact/patterns/national_ids.js';
import goldens from '../fixtures/national_ids.json' with { type: 'json' };

const kChecks: Record<string, (code: string) => boolean> = {
  'es.dni': checks.spanish,
  'es.nie': checks.spanish,
  'it.codicefiscale': checks.italian,
  'fr.nir': checks.french,
  'be.nn': checks.belgian,
  'de.idnr': checks.german,
  'pl.pesel': checks.polish,
  'se.personnummer': checks.swedish,
  'fi.hetu': checks.finnish,
  'no.fodselsnummer': checks.norwegian,
  'cz.rc': checks.czech,
  'ro.cnp': checks.romanian,
  'bg.egn': checks.bulgarian,
  'ee.ik': checks.baltic,
  'lt.asmens': checks.baltic,
  'ch.ssn': checks.swiss,
  'tr.tckimlik': checks.turkish,
  'br.cpf': checks.brazilian,
  'cl.rut': checks.chilean,
  'mx.curp': checks.mexican,
  'cn.ric': checks.chinese,
  'kr.rrn': checks.korean,
  'za.idnr': checks.southAfrican,
  'us.ssn': (code) => found(`${code.slice(0, 3)}-${code.slice(3, 5)}-${code.slice(5)}`).length > 0, // a form without check digits
  'gb.nhs': checks.british,
  'in_.aadhaar': (code) => /^[2-9]/.test(code) && checks.indian(code),
  'ca.sin': checks.luhn,
  'nl.bsn': checks.dutch,
  'pt.nif': checks.portuguese,
  'au.tfn': checks.australian,
  'il.idnr': checks.luhn,
};

const kPage = readFileSync(new URL('../../docs/tasks/redact.md', import.meta.url), 'utf8');

interface Numbers {
  cue: string;
  right: string[];
  wrong: string[];
}

function found(text: string): string[] {
  return findNationalIds(text).map(({ start, end }) => text.slice(start, end));
}

describe.each(Object.entries(goldens as Record<string, Numbers>))('%s', (name, { cue, right, wrong }) => {
  test.each(right)('%s is found', (number) => expect(found(`My ${cue} is ${number}, she says.`)).toContain(number));

  test('numbers with wrong check digits are refused', () => {
    const check = kChecks[name];
    const codes = wrong.map((number) => number.replaceAll(/[/+-]/g, ''));
    expect(codes.filter((code) => check === undefined || check(code))).toEqual([]);
  });
});

test.each(['1058071181 is a row', 'Order 230388720', 'the 008693948th'])('%s: no cue, no number', (text) =>
  expect(found(text)).toEqual([]),
);

test.each([
  ['FR 1 85 05 75 013 538 90', '1 85 05 75 013 538 90'],
  ['CPF 040.105.716-08', '040.105.716-08'],
  ['AHV 756.0283.1051.59', '756.0283.1051.59'],
  ['RUT 18.857.762-8', '18.857.762-8'],
  ['DNI 00.000.611-J', '00.000.611-J'],
  ['dni 05070044q', '05070044q'],
  ['NI no. QQ 12 34 56 C', undefined],
  ['NI no. AB 12 34 56 C', 'AB 12 34 56 C'],
  ['SSN: 163 97 3870', '163 97 3870'],
  ['000-12-3456', undefined],
  ['x163-97-3870', undefined],
  ['163-97-3870-1', undefined],
])('%s', (text, number) => expect(found(text)[0]).toBe(number));

test('a day of birth is 1 to 31', () => {
  expect(checks.polish('85013112342')).toBe(true); // 31 January
  expect(checks.polish('85013212349')).toBe(false); // its check digit is right
});

const kCued = {
  Australia: 'au.tfn',
  Bulgaria: 'bg.egn',
  Canada: 'ca.sin',
  India: 'in_.aadhaar',
  Israel: 'il.idnr',
  'the Netherlands': 'nl.bsn',
  Portugal: 'pt.nif',
  'the NHS': 'gb.nhs',
};

test.each(Object.entries(kCued))('numbers of %s need a cue, as the page says', (country, name) => {
  const { right } = (goldens as Record<string, Numbers>)[name]!;
  const free = right.filter((number) => found(`Look, ${number}, she says.`).includes(number));
  expect(free.length).toBeLessThanOrEqual(right.length / 4); // by chance also right numbers of another country: of Sweden or Norway
  expect(/where these say little \(([^)]*)\)/.exec(kPage)![1]).toContain(country);
});
