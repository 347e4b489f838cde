// The question answering tab.
import { pipeline, type Answer } from '../peruse/dist/index.js';
import { find, make, makeButton } from './dom.js';
import { passages, type PassageExample } from './examples.js';
import { percent } from './format.js';
import { markedText, plainMark } from './marked_text.js';
import { summary, TaskPanel } from './task_panel.js';

const kCandidates = 5;

export function startAnswer(panel: HTMLElement): void {
  const passage = find(panel, '[name=passage]', HTMLTextAreaElement);
  const question = find(panel, '[name=question]', HTMLInputElement);
  const quote = find(panel, 'blockquote', HTMLElement);
  const candidates = find(panel, '.candidates', HTMLDetailsElement);
  const list = find(candidates, 'ol', HTMLElement);
  let asked = { text: '', text_pair: '' };  // Question and passage of the call under way or shown; the form may hold others by now.

  const task = new TaskPanel(panel, [{ name: 'Reader, DeBERTa, 2.7 MB', folder: 'peruse-reader-deberta-tiny' }], {
    load: (source, options) => pipeline('question-answering', source, options),
    ask: (answer, signal) => {
      asked = { text: question.value, text_pair: passage.value };
      return answer(asked.text, asked.text_pair, { top_k: kCandidates, signal });
    },
    show: (answers) => {
      const buttons = answers.map((answer) => makeButton(candidate(answer), () => choose(answer)));
      const choose = (chosen: Answer) => {
        quote.replaceChildren(...markedText(asked.text_pair, [chosen], plainMark));
        for (const [index, button] of buttons.entries()) {
          button.setAttribute('aria-pressed', String(answers[index] === chosen));
        }
      };
      list.replaceChildren(...buttons.map((button) => make('li', '', button)));
      candidates.hidden = answers.length < 2;
      const best = answers[0];
      if (!best) return ['No answer was found in the passage.'];
      choose(best);
      return summary(best.answer, percent(best.score));
    },
    inside: () => asked,
  });

  const questionExamples = find(panel, '.questions', HTMLElement);
  const choosePassage = (example: PassageExample) => {
    passage.value = example.passage;
    question.value = '';
    task.offer(example.questions, (text) => {
      question.value = text;
    }, questionExamples);
  };
  const passageExamples = find(panel, '.passages', HTMLElement);
  for (const example of passages) passageExamples.append(makeButton([example.name], () => choosePassage(example)));
  if (passages[0]) choosePassage(passages[0]);
}

function candidate({ answer, score }: Answer): Node[] {
  return [make('span', 'label', answer), make('span', 'score', percent(score))];
}
