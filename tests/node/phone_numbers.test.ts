import { expect, test } from 'vitest';
import { createRedactor } from '../../web/src/index_redact.js';
import { phoneNumbers } from '../../web/src/phone_numbers.js';

test.each([
  [phoneNumbers(), 'Call +44 20 7946 0958 or 030/901820.', 'Call [PHONE_1] or 030/901820.'],
  [phoneNumbers({ country: 'DE' }), 'Ruf +44 20 7946 0958 oder 030/901820 an.', 'Ruf [PHONE_1] oder [PHONE_2] an.'],
  [phoneNumbers({ country: 'US' }), 'Order 44712231 from (212)\u00a0555\u20110187', 'Order 44712231 from [PHONE_1]'],
])('%#', async (pattern, text, expected) => {
  const redact = createRedactor({ patterns: [pattern] });
  expect((await redact(text)).text).toBe(expected);
});
