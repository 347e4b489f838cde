// The question answering tab.
import { type Answer, pipeline } from '../peruse/peruse.js';
import { readerModels } from './curated.js';
import { find, make, makeButton } from './dom.js';
import { passages } from './examples.js';
import { percent } from './format.js';
import { answerStep } from './inside/answer_step.js';
import { markedText, plainMark } from './marked_text.js';
import type { BundledModel } from './model_picker.js';
import type { Proof } from './proof.js';
import { summary, type Tab, TaskPanel } from './task_panel.js';

export const readerModel: BundledModel = { name: 'Reader, DeBERTa, 3.0 MB', folder: 'peruse-reader-deberta-tiny' };
const kOptions = { top_k: 5, handle_impossible_answer: true } as const;

export function startAnswer(panel: HTMLElement, proof: Proof): Tab {
  const passage = find(panel, '[name=passage]', HTMLTextAreaElement);
  const question = find(panel, '[name=question]', HTMLInputElement);
  const quote = find(panel, 'blockquote', HTMLElement);
  const candidates = find(panel, '.candidates', HTMLDetailsElement);
  const list = find(candidates, 'ol', HTMLElement);
  let asked = { text: '', text_pair: '' }; // question and passage of the running or displayed call; the form may have changed since
  let focus = 0;

  passage.value = passages[0]?.text ?? '';
  question.value = passages[0]?.questions[0] ?? '';
  const task = new TaskPanel(panel, proof, {
    bundled: readerModel,
    curated: readerModels,
    load: (source, options) => pipeline('question-answering', source, options),
    ask: (answer, signal) => {
      asked = { text: question.value, text_pair: passage.value };
      return answer(asked.text, asked.text_pair, { ...kOptions, signal });
    },
    show: (all) => {
      const context = asked.text_pair;
      const answers = all.filter(({ answer }) => answer !== ''); // The empty answer says that the passage has none.
      const buttons = answers.map((answer) => makeButton(candidate(answer), () => choose(answer)));
      const choose = (chosen: Answer) => {
        quote.replaceChildren(...markedText(context, [chosen], plainMark));
        for (const [index, button] of buttons.entries()) {
          button.setAttribute('aria-pressed', String(answers[index] === chosen));
        }
      };
      list.replaceChildren(...buttons.map((button) => make('li', '', button)));
      const best = all[0];
      const declines = best?.answer === '';
      candidates.hidden = answers.length < (declines ? 1 : 2);
      focus = best?.start ?? 0;
      if (!best) return ['No answer was found in the passage.'];
      if (declines) {
        quote.replaceChildren(context);
        return summary('Not in the text', percent(best.score));
      }
      choose(best);
      return summary(best.answer, percent(best.score));
    },
    inside: () => ({ input: asked, focus }),
    lastStep: (answer) => answerStep(answer, asked),
    code: () => ({ task: 'question-answering', name: 'answer', args: [question.value, passage.value, kOptions] }),
  });
  const tries = passages.flatMap(({ text, questions }) => questions.map((words) => ({ text, words })));
  task.offer(
    tries,
    ({ words }) => words,
    ({ text, words }) => {
      passage.value = text;
      question.value = words;
    },
  );
  return task;
}

function candidate({ answer, score }: Answer): Node[] {
  return [make('span', 'label', answer), make('span', 'score', percent(score))];
}
