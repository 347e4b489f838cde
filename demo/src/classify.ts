// The classification tab.
import { pipeline } from '../peruse/dist/index.js';
import { bars } from './bars.js';
import { find } from './dom.js';
import { remarks } from './examples.js';
import { percent } from './format.js';
import { summary, TaskPanel } from './task_panel.js';

export function startClassify(panel: HTMLElement): void {
  const text = find(panel, '[name=text]', HTMLTextAreaElement);
  const list = find(panel, '.bars', HTMLElement);
  let asked = '';

  const task = new TaskPanel(panel, [{ name: 'Sentiment, ConvBERT, 2.7 MB', folder: 'peruse-sentiment-convbert-tiny' }], {
    load: (source, options) => pipeline('text-classification', source, options),
    ask: (classify, signal) => {
      asked = text.value;
      return classify(asked, { top_k: null, signal });
    },
    show: (labels) => {
      list.replaceChildren(...bars(labels));
      const best = labels[0];
      return best ? summary(best.label, percent(best.score)) : ['The model has no labels.'];
    },
    inside: () => asked,
  });
  task.offer(remarks, (remark) => {
    text.value = remark;
  });
}
