// The question answering tab.
import { pipeline, type Answer } from '../peruse/dist/index.js';
import { find, make, makeButton } from './dom.js';
import { passages, type PassageExample } from './examples.js';
import { percent } from './format.js';
import { TaskPanel } from './task_panel.js';

const kCandidates = 5;

export function startAnswer(panel: HTMLElement, modelUrl: string): void {
  const passage = find(panel, '[name=passage]', HTMLTextAreaElement);
  const question = find(panel, '[name=question]', HTMLInputElement);
  const quote = find(panel, 'blockquote', HTMLElement);
  const candidates = find(panel, '.candidates', HTMLDetailsElement);
  const list = find(candidates, 'ol', HTMLElement);
  let asked = '';  // The passage of the call under way or shown; the form may hold another by now.

  const task = new TaskPanel(panel, modelUrl, {
    load: ({ source, device }, options) => pipeline('question-answering', source, { ...options, device }),
    ask: (answer) => {
      asked = passage.value;
      return answer(question.value, asked, { top_k: kCandidates });
    },
    show: (answers, took) => {
      const buttons = answers.map((answer) => makeButton(candidate(answer), () => choose(answer)));
      const choose = (chosen: Answer) => {
        quote.replaceChildren(...marked(asked, chosen));
        for (const [index, button] of buttons.entries()) {
          button.setAttribute('aria-pressed', String(answers[index] === chosen));
        }
      };
      list.replaceChildren(...buttons.map((button) => make('li', '', button)));
      candidates.hidden = answers.length < 2;
      const best = answers[0];
      if (!best) return ['No answer was found in the passage.'];
      choose(best);
      return [make('strong', '', best.answer), ` score ${percent(best.score)} \u00b7 in ${took}`];
    },
  });

  const ask = (text: string) => {
    question.value = text;
    void task.run();
  };
  const questionExamples = find(panel, '.questions', HTMLElement);
  const questionsLabel = find(questionExamples, 'span', HTMLElement);
  const choosePassage = (example: PassageExample) => {
    passage.value = example.passage;
    question.value = '';
    const buttons = example.questions.map((text) => makeButton([text], () => ask(text)));
    questionExamples.replaceChildren(questionsLabel, ...buttons);
  };
  const passageExamples = find(panel, '.passages', HTMLElement);
  for (const example of passages) passageExamples.append(makeButton([example.name], () => choosePassage(example)));
  if (passages[0]) choosePassage(passages[0]);
}

function candidate({ answer, score }: Answer): Node[] {
  return [make('span', 'label', answer), make('span', 'score', percent(score))];
}

/** The passage with the answer marked. Offsets are indices into the caller's own string. */
function marked(passage: string, { start, end }: Answer): (Node | string)[] {
  return [passage.slice(0, start), make('mark', '', passage.slice(start, end)), passage.slice(end)];
}
