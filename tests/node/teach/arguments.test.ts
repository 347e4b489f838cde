// teach() rejects bad arguments before it loads anything.
import { expect, test } from 'vitest';
import { teach } from '../../../web/dist/teach/index_node.js';

const kModel = 'models/peruse-sentiment-convbert-tiny';
const kTwo = [
  { text: 'Good.', label: 'a' },
  { text: 'Bad.', label: 'b' },
];

const loose = teach as unknown as (...given: unknown[]) => Promise<unknown>;

test.each([
  [
    'a task that is none',
    ['fill-mask', kModel, kTwo],
    'invalid_argument',
    /'fill-mask' can't be taught. Use text-classification, question-answering, token/,
  ],
  ['no list', ['text-classification', kModel, 'x'], 'invalid_argument', /The examples must be a list, not a string/],
  ['an empty list', ['text-classification', kModel, []], 'invalid_argument', /no examples/],
  ['a number', ['text-classification', kModel, [kTwo[0], 7]], 'invalid_argument', /^Example 1: it is a number, not an object/],
  ['no text', ['text-classification', kModel, [kTwo[0], { label: 'a' }]], 'invalid_argument', /^Example 1: its text is not a string/],
  ['no label', ['text-classification', kModel, [{ text: 'A' }]], 'invalid_argument', /^Example 0: it has no label/],
  [
    'a label that is none',
    ['text-classification', kModel, [{ text: 'A', label: {} }]],
    'invalid_argument',
    /^Example 0: its label is neither/,
  ],
  ['no entities', ['token-classification', kModel, [{ text: 'A' }]], 'invalid_argument', /^Example 0: its entities is not a list/],
  [
    'an entity without a place',
    ['token-classification', kModel, [{ text: 'A', entities: [{ label: 'X' }] }]],
    'invalid_argument',
    /^Example 0: its entities holds an entity that lacks start and end as whole numbers/,
  ],
  [
    'no context, of a question without an answer',
    ['question-answering', kModel, [{ question: 'A', answer: null }]],
    'invalid_argument',
    /^Example 0: its context is not a string/,
  ],
  [
    'no answer',
    ['question-answering', kModel, [{ question: 'A', context: 'B' }]],
    'invalid_argument',
    /^Example 0: its answer lacks start and end as whole numbers/,
  ],
  [
    'a bad example to measure by',
    ['text-classification', kModel, kTwo, { validation: [{ text: 1 }] }],
    'invalid_argument',
    /^Validation example 0: its text/,
  ],
  ['a share', ['text-classification', kModel, kTwo, { validation: 1.5 }], 'invalid_argument', /a share between 0 and 1, not 1.5/],
  ['an option', ['text-classification', kModel, kTwo, { lr: 1 }], 'invalid_argument', /^Teaching has no option 'lr'. It has method, /],
  ['a type', ['text-classification', kModel, kTwo, { epochs: '3' }], 'invalid_argument', /^epochs must be a number, not '3'/],
  ['no number', ['text-classification', kModel, kTwo, { epochs: NaN }], 'invalid_argument', /^epochs must be a finite number, not NaN/],
  [
    'a method',
    ['text-classification', kModel, kTwo, { method: 'some' }],
    'invalid_argument',
    /^method must be 'head', 'contrast', 'lora', 'full' or/,
  ],
  [
    'layers',
    ['text-classification', kModel, kTwo, { method: { layers: 0 } }],
    'invalid_argument',
    /^method must be .* not \{"layers":0\}\.$/,
  ],
  [
    'class ids without a word about them',
    [
      'text-classification',
      kModel,
      [
        { text: 'A', label: 0 },
        { text: 'B', label: 1 },
      ],
    ],
    'invalid_argument',
    /whole numbers.*problem_type: 'single_label_classification' \(or labels: .*problem_type: 'regression'/,
  ],
  [
    'lists of class ids',
    [
      'text-classification',
      kModel,
      [
        { text: 'A', label: [0, 2] },
        { text: 'B', label: [] },
      ],
    ],
    'invalid_argument',
    /problem_type: 'multi_label_classification'/,
  ],
  [
    'a class id that labels does not have',
    [
      'text-classification',
      kModel,
      [
        { text: 'A', label: 0 },
        { text: 'B', label: 2 },
      ],
      { labels: ['a', 'b'] },
    ],
    'invalid_argument',
    /^Example 1: its label 2 is not a class id: there are 2 labels/,
  ],
  [
    'an empty list where others have numbers',
    [
      'text-classification',
      kModel,
      [
        { text: 'A', label: [0.5, 1] },
        { text: 'B', label: [] },
      ],
    ],
    'invalid_argument',
    /^Example 1: its "label" is an empty list; the model gives 2/,
  ],
  [
    'labels of two kinds',
    ['text-classification', kModel, [...kTwo, { text: 'C', label: ['a'] }]],
    'invalid_argument',
    /^Example 2: its label is a list of strings, but that of example 0 is a string/,
  ],
  [
    'names for numbers',
    ['text-classification', kModel, kTwo, { problem_type: 'regression' }],
    'invalid_argument',
    /^problem_type is 'regression'/,
  ],
  [
    'half a character in a label',
    ['text-classification', kModel, [{ text: 'A', label: 'a\ud83d' }]],
    'invalid_argument',
    /^Example 0: its label holds half a character/,
  ],
  [
    'the label of what is no entity',
    ['token-classification', kModel, [{ text: 'A', entities: [{ start: 0, end: 1, label: 'O' }] }]],
    'invalid_argument',
    /^Example 0: entity 0 has the label 'O'.*omit/,
  ],
  [
    'the label of a token',
    ['token-classification', kModel, [{ text: 'A', entities: [{ start: 0, end: 1, label: 'B-WHO' }] }]],
    'invalid_argument',
    /^Example 0: entity 0 has the label 'B-WHO'.*use 'WHO'/,
  ],
  ['sift', ['text-classification', kModel, kTwo, { sift: 4 }], 'invalid_argument', /^sift must be true, false or \{ weight: n \}/],
  ['labels', ['text-classification', kModel, kTwo, { labels: 'a,b' }], 'invalid_argument', /^labels must be a list of strings/],
  ['weights', ['text-classification', kModel, kTwo, { class_weights: [1], labels: 3 }], 'invalid_argument', /^labels must be/],
  ['a signal', ['text-classification', kModel, kTwo, { signal: 1 }], 'invalid_argument', /^signal must be an AbortSignal/],
  ['a problem', ['text-classification', kModel, kTwo, { problem_type: 'x' }], 'invalid_argument', /^problem_type must be one of/],
  ['options that are none', ['text-classification', kModel, kTwo, null], 'invalid_argument', /^The options of teaching must be an object/],
])('%s', async (_, given, code, message) => {
  await expect(loose(...(given as unknown[]))).rejects.toMatchObject({
    name: 'PeruseError',
    code,
    message: expect.stringMatching(message as RegExp),
  });
});

test('what throws while it is read is the arguments’ fault', async () => {
  const example = {
    get text() {
      throw new Error('no');
    },
  };
  await expect(loose('text-classification', kModel, [example])).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/no/),
  });
});

test('a signal that has fired: its reason is the cause', async () => {
  const reason = new Error('The user left.');
  const signal = AbortSignal.abort(reason);
  await expect(teach('text-classification', kModel, kTwo, { signal })).rejects.toMatchObject({
    name: 'AbortError',
    code: 'aborted',
    cause: reason,
  });
});
