// Redaction and restoration of texts that arrive in pieces: the result does not depend on where the pieces begin.
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../web/src/index_redact.js';
import type { RedactionSession } from '../../web/src/redact/types.js';

/** A random number below a limit, from a fixed seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

function piecesOf(text: string, random: (below: number) => number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += pieces.at(-1)!.length) pieces.push(text.slice(at, at + 1 + random(20)));
  return pieces;
}

async function through(stream: TransformStream<string, string>, pieces: readonly string[]): Promise<string[]> {
  const source = new ReadableStream<string>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const found: string[] = [];
  const reader = source.pipeThrough(stream).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return found;
    found.push(value);
  }
}

const kParts = [
  'Write to mary@example.org',
  'or call +44 20 7946 0958',
  'Card 4111 1111 1111 1111, please',
  'IBAN DE89 3704 0044 0532 0130 00.',
  'Nothing private here.',
  'password: hunter2',
  '\u756a\u53f7\u306f4111 1111 1111 1111\u3067\u3059\u3002',
  '\ud83d\ude00 fine',
  'born on 12 March 1990',
  '"phone": "%2B49%2030%201234567"',
  'at 203.0.113.7\n\nNew paragraph',
  'mary@example.org again',
];
const kReplies = [
  'Dear [EMAIL_1], ',
  "[email_1]'s card ",
  '(CARD 1) or CARD_1 ',
  '\\[PHONE\\_1\\] ',
  '[PHONE_1',
  ' [ IBAN_1] ',
  '\u3010EMAIL_2\u3011\u3002',
  'EMAIL_1EMAIL_1 ',
  '[EMAIL_9] and [x] ',
  'xEMAIL_1 ',
  "[EMAIL_1's] ",
  'a [b [EMAIL_1] c] ',
  '\ud83d\ude00[CARD_1]\ud83d\ude00 ',
  'text without any ',
  `${'['.repeat(300)}EMAIL_1] `,
];

function made(parts: readonly string[], count: number, random: (below: number) => number): string[] {
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + random(8) }, () => parts[random(parts.length)]! + (random(3) === 0 ? '\n' : ' ')).join(''),
  );
}

describe('200 texts in pieces of 1 to 20 characters give the result of the whole text', () => {
  const redactor = createRedactor({ patterns: true });

  test('redactStream', async () => {
    const random = randomFrom(3);
    for (const text of made(kParts, 200, random)) {
      const [whole, inPieces] = [redactor.session(), redactor.session()];
      const expected = await whole.redact(text);
      expect((await through(inPieces.redactStream(), piecesOf(text, random))).join('')).toBe(expected.text);
      expect(inPieces.mapping).toEqual(expected.mapping);
    }
  });

  test('restoreStream', async () => {
    const session: RedactionSession = redactor.session();
    await session.redact('mary@example.org, tom@example.org, 4111 1111 1111 1111, +44 20 7946 0958, DE89 3704 0044 0532 0130 00');
    const random = randomFrom(5);
    for (const text of made(kReplies, 200, random)) {
      expect((await through(session.restoreStream(), piecesOf(text, random))).join('')).toBe(session.restore(text).text);
      expect((await through(session.restoreStream(), [...text])).join('')).toBe(session.restore(text).text);
    }
  });
});

test('a reply is passed on word by word', async () => {
  const session = createRedactor({ patterns: true }).session();
  await session.redact('mary@example.org');
  const pieces = await through(session.restoreStream(), ['I wrote ', 'to [EMA', 'IL_1], ', 'who', ' is well', '.']);
  expect(pieces).toEqual(['I wrote ', 'to ', 'mary@example.org, ', 'who is ', 'well.']);
});

test('a long text is redacted in parts, wherever its pieces begin, and no detail is cut', async () => {
  const line = 'Please write to mary@example.org, or call +44 20 7946 0958 before noon.\n';
  const text = line.repeat(300);
  const redactor = createRedactor({ patterns: true });
  const random = randomFrom(9);
  const results: string[] = [];
  for (const pieces of [piecesOf(text, random), piecesOf(text, random), [text]]) {
    const parts = await through(redactor.session().redactStream(), pieces);
    expect(parts.length).toBeGreaterThan(4);
    results.push(parts.join(''));
  }
  expect(results).toEqual(Array(3).fill('Please write to [EMAIL_1], or call [PHONE_1] before noon.\n'.repeat(300)));
});

test('pieces must be strings', async () => {
  const session = createRedactor({ patterns: true }).session();
  const bytes = new Uint8Array(3) as unknown as string;
  await expect(through(session.redactStream(), [bytes])).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(through(session.restoreStream(), [bytes])).rejects.toMatchObject({ code: 'invalid_argument' });
});
