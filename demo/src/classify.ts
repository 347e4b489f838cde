// The sentiment tab: labels for a text, and the words that decided.
import { type LabelScore, pipeline } from '../peruse/peruse.js';
import { bars } from './bars.js';
import { sentimentModels } from './curated.js';
import { find } from './dom.js';
import { remarks } from './examples.js';
import { count, percent } from './format.js';
import { influences, influenceView } from './influence.js';
import { hidingStep } from './inside/inside.js';
import type { Proof } from './proof.js';
import { summary, type Tab, TaskPanel } from './task_panel.js';
import { inParts, type Part } from './windows.js';

const kModel = { name: 'Sentiment, ConvBERT, 1.5 MB', folder: 'peruse-sentiment-convbert-tiny' };
const kOptions = { top_k: null } as const;
/**
 * With two labels, a best label below this probability is shown as "Not sure". It is the lowest of 0.5, 0.6, 0.65, 0.7, 0.75 and 0.8 at which the
 * bundled model is wrong about less than a tenth of the remarks that its recipe holds out (9.2 %).
 */
const kSure = 0.7;

export function startClassify(panel: HTMLElement, proof: Proof): Tab {
  const text = find(panel, '[name=text]', HTMLTextAreaElement);
  const list = find(panel, '.bars', HTMLElement);
  const influence = find(panel, '.influence', HTMLElement);
  let asked = '';

  text.value = remarks[0] ?? '';
  const task = new TaskPanel(panel, proof, {
    bundled: kModel,
    curated: sentimentModels,
    load: (source, options) => pipeline('text-classification', source, options),
    ask: async (classify, signal) => {
      asked = text.value;
      const parts = await inParts(asked, (part) => classify(part, { ...kOptions, signal }));
      return { labels: mean(parts), parts };
    },
    show: ({ labels, parts }) => {
      list.replaceChildren(...bars(labels));
      influence.replaceChildren();
      const best = labels[0];
      if (!best) return ['The model has no labels.'];
      const read = parts.length > 1 ? `, the mean of ${count(parts.length, 'part')}` : '';
      if (labels.length === 2 && best.score < kSure) return summary('Not sure', `(${best.label}, ${percent(best.score)}${read})`);
      return summary(best.label, `${percent(best.score)}${read}`);
    },
    explain: async (classify, { labels, parts }, signal) => {
      const label = labels[0]?.label ?? '';
      const words = asked;
      if (parts.length > 1) return;
      const scoreOf = (all: LabelScore[]) => all.find((one) => one.label === label)?.score ?? 0;
      const found = await influences(words, async (texts) => (await classify(texts, { ...kOptions, signal })).map(scoreOf), signal);
      if (found && !signal.aborted) influence.replaceChildren(...influenceView(words, found, label));
    },
    inside: () => ({ input: asked }),
    lastStep: async (classify) =>
      hidingStep('The first token\u2019s numbers become one score a label; hide words and see them move.', asked, async (words, heads) => {
        const parts = await inParts(words, (part) => classify(part, { ...kOptions, ...heads }));
        return mean(parts)
          .map(({ label, score }) => `${label} ${percent(score)}`)
          .join(', ');
      }),
    code: () => ({ task: 'text-classification', name: 'classify', args: [text.value, kOptions] }),
  });
  task.offer(
    remarks,
    (remark) => remark,
    (remark) => {
      text.value = remark;
    },
  );
  return task;
}

/** The labels of all parts in one, each part with the weight of its length; best first. */
function mean(parts: readonly Part<LabelScore[]>[]): LabelScore[] {
  const length = parts.reduce((sum, { start, end }) => sum + end - start, 0);
  const scores = new Map<string, number>();
  for (const { start, end, result } of parts) {
    for (const { label, score } of result) scores.set(label, (scores.get(label) ?? 0) + (score * (end - start)) / Math.max(length, 1));
  }
  return [...scores].map(([label, score]) => ({ label, score })).sort((a, b) => b.score - a.score);
}
