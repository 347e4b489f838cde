// The zero-shot tab: labels of the visitor's own.
import { pipeline } from '../peruse/dist/index.js';
import { bars } from './bars.js';
import { find } from './dom.js';
import { messages } from './examples.js';
import { percent } from './format.js';
import { summary, TaskPanel } from './task_panel.js';

export function startZeroShot(panel: HTMLElement): void {
  const text = find(panel, '[name=text]', HTMLTextAreaElement);
  const labels = find(panel, '[name=labels]', HTMLInputElement);
  const template = find(panel, '[name=template]', HTMLInputElement);
  const multi = find(panel, '[name=multi]', HTMLInputElement);
  const list = find(panel, '.bars', HTMLElement);
  let looked = { text: '', text_pair: '' };  // The text and the sentence of its best label.

  const task = new TaskPanel(panel, [{ name: 'Any labels, DeBERTa, 3.6 MB', folder: 'peruse-zero-shot-deberta-tiny' }], {
    load: (source, options) => pipeline('zero-shot-classification', source, options),
    ask: async (classify, signal) => {
      const hypothesis = template.value;
      const found = await classify(text.value, labels.value, { hypothesis_template: hypothesis, multi_label: multi.checked, signal });
      looked = { text: found.sequence, text_pair: hypothesis.replace('{}', found.labels[0] ?? '') };
      return found;
    },
    show: ({ labels: names, scores }) => {
      const scored = names.map((label, index) => ({ label, score: scores[index] ?? 0 }));
      list.replaceChildren(...bars(scored));
      const best = scored[0];
      return best ? summary(best.label, percent(best.score)) : ['There are no labels.'];
    },
    inside: () => looked,
  });
  task.offer(messages.map((message) => message.text), (chosen) => {
    text.value = chosen;
    labels.value = messages.find((message) => message.text === chosen)?.labels ?? labels.value;
  });
}
