import type { AnswerExample, EntitiesExample, TextExample } from '../../../web/dist/teach/face.js';

const kPlants = ['rose', 'tulip', 'daisy', 'lily', 'fern', 'oak', 'pine', 'moss'];
const kTools = ['hammer', 'wrench', 'saw', 'drill', 'chisel', 'ladder', 'shovel', 'pliers'];
const kFrames = [
  (thing: string) => `The ${thing} is in the yard.`,
  (thing: string) => `We saw a ${thing} today.`,
  (thing: string) => `My ${thing} is old.`,
];

export const kTexts: TextExample[] = [kPlants, kTools].flatMap((things, label) =>
  things.flatMap((thing) => kFrames.slice(0, 2).map((frame) => ({ text: frame(thing), label: ['plant', 'tool'][label]! }))),
);

export const kHeldBack: TextExample[] = [kPlants, kTools].flatMap((things, label) =>
  things.map((thing) => ({ text: kFrames[2]!(thing), label: ['plant', 'tool'][label]! })),
);

const kOpinions: [string, string[]][] = [
  ['complaint', ['terrible', 'awful', 'boring', 'dreadful', 'stupid', 'useless', 'annoying', 'disappointing']],
  ['praise', ['wonderful', 'excellent', 'delightful', 'brilliant', 'charming', 'superb', 'lovely', 'enjoyable']],
];
const kOpinionFrames = [
  (word: string) => `It is ${word}.`,
  (word: string) => `We saw something ${word} today.`,
  (word: string) => `My visit was ${word}.`,
];
const opinions = (frames: typeof kOpinionFrames): TextExample[] =>
  kOpinions.flatMap(([label, words]) => words.flatMap((word) => frames.map((frame) => ({ text: frame(word), label }))));

/** Complaint and praise under new labels, which a sentiment model separates even before training. */
export const kPraise = opinions(kOpinionFrames.slice(0, 2));
export const kPraiseHeldBack = opinions(kOpinionFrames.slice(2));

function marked(before: string, entity: string, after: string, label: string): EntitiesExample {
  return { text: before + entity + after, entities: [{ start: before.length, end: before.length + entity.length, label }] };
}

export const kEntities: EntitiesExample[] = [
  ...kPlants.flatMap((thing) => [marked('The ', thing, ' is in the yard.', 'PLANT'), marked('We saw a ', thing, ' today.', 'PLANT')]),
  ...kTools.map((thing) => ({ text: `The ${thing} is in the yard.`, entities: [] })),
];

export const kAnswers: AnswerExample[] = ['Anna', 'Peter', 'Maria', 'John'].flatMap((name) =>
  ['garden', 'kitchen', 'cellar', 'attic'].map((place) => {
    const before = `${name} is in the `;
    return {
      question: `Where is ${name}?`,
      context: `${before}${place}.`,
      answer: { start: before.length, end: before.length + place.length },
    };
  }),
);

export const kLines: string[] = [...kPlants, ...kTools].flatMap((thing) => kFrames.map((frame) => frame(thing))).slice(0, 40);
