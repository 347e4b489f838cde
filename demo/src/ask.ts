// The tab for questions: shows the passages of a document that answer a question, with the answers marked.
import { type Answer, PeruseError, type Pipeline, pipeline } from '../peruse/peruse.js';
import { kReader } from './bundled.js';
import { readerModels } from './curated.js';
import { find, make, makeButton, withDirection } from './dom.js';
import { type DocumentExample, documents } from './examples.js';
import { percent } from './format.js';
import { answerStep } from './inside/answer_step.js';
import { markedText, plainMark } from './marked_text.js';
import { passagesOf } from './passages.js';
import type { Proof } from './proof.js';
import { type Inspectable, summary, TaskPanel } from './task_panel.js';

const kOptions = { top_k: 30, handle_impossible_answer: true } as const;
const kCandidates = 5;

type Reader = Pipeline<'question-answering'>;

export function startAsk(panel: HTMLElement, proof: Proof): Inspectable {
  const document_ = find(panel, '[name=document]', HTMLTextAreaElement);
  const question = find(panel, '[name=question]', HTMLInputElement);
  const questions = find(panel, '.questions', HTMLElement);
  const passageList = find(panel, '.passages', HTMLElement);
  const candidates = find(panel, '.candidates', HTMLDetailsElement);
  const list = find(candidates, 'ol', HTMLElement);
  const whole = find(panel, '.whole', HTMLElement);
  let asked = { text: '', text_pair: '' }; // Question and document of the running or displayed call; the form may have changed since.
  let looked = { input: asked, focus: 0 };

  const fill = ({ text, questions: words }: DocumentExample) => {
    document_.value = text;
    question.value = words[0] ?? '';
    const buttons = words.map((one) =>
      makeButton([one], () => {
        question.value = one;
        void task.runForClick();
      }),
    );
    questions.replaceChildren(...buttons);
  };
  const task: TaskPanel<Reader, Answer[]> = new TaskPanel(panel, proof, {
    bundled: [kReader],
    curated: readerModels,
    load: (source, options) => pipeline('question-answering', source, options),
    ask: (answer, signal) => {
      asked = { text: question.value, text_pair: document_.value };
      if (Object.values(asked).some((text) => text.trim() === ''))
        throw new PeruseError('empty_text', 'There is no question or no document.');
      return answer(asked.text, asked.text_pair, { ...kOptions, signal });
    },
    askAbout: (answer, words, signal) => answer(question.value, words, { ...kOptions, signal }),
    show: (all) => {
      const { text, text_pair: context } = asked;
      const answers = all.filter(({ answer }) => answer !== ''); // The empty answer means that the document does not answer the question.
      const shown = answers.slice(0, kCandidates);
      const buttons = shown.map((answer) => makeButton(candidate(answer), () => choose(answer)));
      const choose = (chosen: Answer) => {
        whole.replaceChildren(...markedText(context, [chosen], plainMark));
        requestAnimationFrame(() => showMark(whole));
        for (const [index, button] of buttons.entries()) button.setAttribute('aria-pressed', String(shown[index] === chosen));
      };
      const best = all[0];
      const declines = best?.answer === '';
      const found = declines ? [] : passagesOf(context, answers);
      passageList.replaceChildren(
        ...found.map(({ text: sentence, span }) =>
          make('li', '', withDirection(make('blockquote', 'limited', ...markedText(sentence, [span], plainMark)))),
        ),
      );
      list.replaceChildren(...buttons.map((button) => make('li', '', button)));
      whole.replaceChildren(context);
      candidates.hidden = answers.length === 0;
      const [home] = found;
      looked = home
        ? { input: { text, text_pair: home.text }, focus: Math.max(0, (best?.start ?? 0) - home.start) }
        : { input: asked, focus: best?.start ?? 0 };
      if (!best) return ['No answer was found in the document.'];
      const [nearest] = answers;
      if (declines) return nearest ? summary('Not in the text.', 'Nearest: ', make('em', '', nearest.answer)) : summary('Not in the text.');
      choose(best);
      return summary(best.answer, percent(best.score));
    },
    inside: () => looked,
    lastStep: (answer) => answerStep(answer, looked.input),
    code: () => ({ task: 'question-answering', name: 'answer', args: [question.value, document_.value, kOptions] }),
  });
  new ResizeObserver(() => showMark(whole)).observe(whole);
  if (documents[0]) fill(documents[0]);
  task.offer(documents, ({ name }) => name, fill);
  return task;
}

/** Scrolls the page, but not the window, to its mark. */
function showMark(page: HTMLElement): void {
  const mark = page.querySelector('mark');
  if (mark) page.scrollTop = mark.offsetTop - page.offsetTop - page.clientHeight / 2;
}

function candidate({ answer, score }: Answer): Node[] {
  return [withDirection(make('span', 'label', answer)), make('span', 'score', percent(score))];
}
