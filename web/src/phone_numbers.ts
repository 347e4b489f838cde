// peruse/phone-numbers: telephone numbers of all countries, for `redact`. Requires the package libphonenumber-js.
import { type CountryCode, findPhoneNumbersInText } from 'libphonenumber-js';
import type { PatternFinder } from './redact/pattern_names.js';

/** Options of phoneNumbers(). */
export interface PhoneNumberOptions {
  /** The country whose national numbers are found, for example 'DE'. Without it, only international numbers ('+49 ...') are found. */
  country?: CountryCode;
}

/** Returns a pattern for `redact` that finds valid telephone numbers in any usual notation, with the type 'PHONE'. */
export function phoneNumbers({ country }: PhoneNumberOptions = {}): PatternFinder {
  return {
    type: 'PHONE',
    find: (text) => findPhoneNumbersInText(text, country).map(({ startsAt: start, endsAt: end }) => ({ start, end })),
  };
}
