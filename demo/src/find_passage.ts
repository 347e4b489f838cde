// The search tab: finds the passages of a document that answer a question. The reader returns the document's best answers; a passage's
// score is that of the answers in it.
import { type Answer, pipeline } from '../peruse/peruse.js';
import { readerModel } from './answer.js';
import { readerModels } from './curated.js';
import { find, make } from './dom.js';
import { cottage, queries } from './examples.js';
import { answerStep } from './inside/answer_step.js';
import { markedText, plainMark, type Span } from './marked_text.js';
import type { Proof } from './proof.js';
import { summary, type Tab, TaskPanel } from './task_panel.js';

const kOptions = { top_k: 30 } as const;
const kShown = 3;
const kLeast = 0.1; // of the best passage's score; what has less is not shown
const kFewestWords = 3; // Headings answer nothing.

interface Passage extends Span {
  readonly text: string;
}

interface Found {
  readonly passage: Passage;
  readonly score: number;
  readonly best: Answer;
}

export function startFind(panel: HTMLElement, proof: Proof): Tab {
  const document_ = find(panel, '[name=document]', HTMLTextAreaElement);
  const query = find(panel, '[name=query]', HTMLInputElement);
  const list = find(panel, '.passages', HTMLElement);
  let asked = { text: '', text_pair: '' };

  document_.value = cottage;
  query.value = queries[0] ?? '';
  const task = new TaskPanel(panel, proof, {
    bundled: readerModel,
    curated: readerModels,
    load: (source, options) => pipeline('question-answering', source, options),
    ask: (answer, signal) => {
      asked = { text: query.value, text_pair: document_.value };
      return answer(asked.text, asked.text_pair, { ...kOptions, signal });
    },
    show: (answers) => {
      const ranked = rank(passagesOf(asked.text_pair), answers);
      const found = ranked.filter(({ score }) => score > kLeast * (ranked[0]?.score ?? 0)).slice(0, kShown);
      list.replaceChildren(...found.map(row));
      const [best] = found;
      if (!best) return ['Nothing in the document answers this.'];
      asked = { text: asked.text, text_pair: best.passage.text };
      return summary(best.best.answer, `is in the passage that answers best, of ${passagesOf(document_.value).length}.`);
    },
    inside: () => ({ input: asked }),
    lastStep: (answer) => answerStep(answer, asked),
    code: () => ({ task: 'question-answering', name: 'answer', args: [query.value, document_.value, kOptions] }),
  });
  task.offer(
    queries,
    (question) => question,
    (question) => {
      document_.value = cottage;
      query.value = question;
    },
  );
  return task;
}

/** The document's sentences, where they stand. */
function passagesOf(document_: string): Passage[] {
  return [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(document_)]
    .map(({ segment, index }) => {
      const start = index + segment.length - segment.trimStart().length;
      return { text: segment.trim(), start, end: start + segment.trim().length };
    })
    .filter(({ text }) => text.split(/\s+/).length >= kFewestWords);
}

/** Best first: the scores of the answers that begin in a passage, added up. */
function rank(passages: readonly Passage[], answers: readonly Answer[]): Found[] {
  return passages
    .flatMap((passage) => {
      const within = answers.filter(({ start }) => start >= passage.start && start < passage.end);
      const [best] = within; // Answers come best first.
      return best ? [{ passage, best, score: within.reduce((sum, { score }) => sum + score, 0) }] : [];
    })
    .sort((a, b) => b.score - a.score);
}

function row({ passage, best }: Found): HTMLElement {
  const span = { start: best.start - passage.start, end: Math.min(best.end, passage.end) - passage.start };
  return make('li', '', make('blockquote', '', ...markedText(passage.text, [span], plainMark)));
}
