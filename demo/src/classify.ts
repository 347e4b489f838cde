// The classification tab.
import { pipeline, type LabelScore } from '../peruse/dist/index.js';
import { find, make, makeButton } from './dom.js';
import { remarks } from './examples.js';
import { percent } from './format.js';
import { TaskPanel } from './task_panel.js';

export function startClassify(panel: HTMLElement, modelUrl: string): void {
  const text = find(panel, '[name=text]', HTMLTextAreaElement);
  const bars = find(panel, '.bars', HTMLElement);
  const quote = find(panel, 'blockquote', HTMLElement);
  let asked = '';

  const task = new TaskPanel(panel, modelUrl, {
    load: ({ source, device }, options) => pipeline('text-classification', source, { ...options, device }),
    ask: (classify) => {
      asked = text.value;
      return classify(asked, { top_k: null });
    },
    show: (labels, took) => {
      bars.replaceChildren(...labels.map(bar));
      quote.textContent = asked;
      const best = labels[0];
      return best ? [make('strong', '', best.label), ` ${percent(best.score)} \u00b7 in ${took}`] : [];
    },
  });

  const examples = find(panel, '.examples', HTMLElement);
  for (const remark of remarks) {
    const run = () => {
      text.value = remark;
      void task.run();
    };
    examples.append(makeButton([remark], run));
  }
}

/** One label: its name, its probability, and a bar of that length. */
function bar({ label, score }: LabelScore): HTMLElement {
  const fill = make('span', 'fill');
  fill.style.setProperty('--score', String(score));
  const track = make('span', 'track', fill);
  track.setAttribute('aria-hidden', 'true');
  return make('li', '', make('span', 'label', label), track, make('span', 'score', percent(score)));
}
