// peruse/phone-numbers: telephone numbers by the numbering plans of all countries, for `redact`. Needs the package libphonenumber-js.
import { type CountryCode, findPhoneNumbersInText } from 'libphonenumber-js';
import type { PatternFinder } from './tasks/pattern_names.js';

/** Options to find phone numbers. */
export interface PhoneNumberOptions {
  /** The country whose national numbers are found, for example 'DE'. Without it only international numbers ('+49 ...') are. */
  country?: CountryCode;
}

/** Makes a pattern for `redact`: valid telephone numbers in any usual notation, of the type 'PHONE'. */
export function phoneNumbers({ country }: PhoneNumberOptions = {}): PatternFinder {
  return {
    type: 'PHONE',
    find: (text) => findPhoneNumbersInText(text, country).map(({ startsAt: start, endsAt: end }) => ({ start, end })),
  };
}
