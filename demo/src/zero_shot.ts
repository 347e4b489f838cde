// The sorting tab: lines, and labels of the visitor's own.
import { pipeline, type ZeroShotClassificationOutput } from '../peruse/peruse.js';
import { bars } from './bars.js';
import { zeroShotModels } from './curated.js';
import { find, make, makeButton } from './dom.js';
import { lines as examples } from './examples.js';
import { count, percent } from './format.js';
import { influences, influenceView } from './influence.js';
import { hidingStep } from './inside/inside.js';
import type { Proof } from './proof.js';
import { summary, type Tab, TaskPanel } from './task_panel.js';

const kModel = { name: 'Any labels, DeBERTa, 2.6 MB', folder: 'peruse-zero-shot-deberta-tiny' };
const kHues = 6; // Colours in panel.css.

export function startZeroShot(panel: HTMLElement, proof: Proof): Tab {
  const text = find(panel, '[name=text]', HTMLTextAreaElement);
  const labels = find(panel, '[name=labels]', HTMLInputElement);
  const template = find(panel, '[name=template]', HTMLInputElement);
  const preview = find(panel, '.template-preview', HTMLElement);
  const multi = find(panel, '[name=multi]', HTMLInputElement);
  const sorted = find(panel, '.sorted', HTMLElement);
  const list = find(panel, '.bars', HTMLElement);
  const influence = find(panel, '.influence', HTMLElement);
  let looked = { text: '', text_pair: '' }; // A line and the sentence of its best label.

  const linesNow = () =>
    text.value
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  const namesOf = (text_: string) =>
    text_
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
  const optionsNow = () => ({ hypothesis_template: template.value, multi_label: multi.checked });
  const sentenceOf = (label: string) => template.value.replace('{}', label);
  const fill = (example: (typeof examples)[number]) => {
    text.value = example.text;
    labels.value = example.labels;
  };
  const showPreview = () => {
    preview.textContent = `For example: \u201c${sentenceOf(namesOf(labels.value)[0] ?? '')}\u201d`;
  };

  if (examples[0]) fill(examples[0]);
  showPreview();
  panel.addEventListener('input', showPreview);
  const task = new TaskPanel(panel, proof, {
    bundled: kModel,
    curated: zeroShotModels,
    load: (source, options) => pipeline('zero-shot-classification', source, options),
    ask: (classify, signal) => classify(linesNow(), labels.value, { ...optionsNow(), signal }),
    show: (results) => {
      const hues = new Map(namesOf(labels.value).map((name, index) => [name, index % kHues]));
      const choose = (chosen: ZeroShotClassificationOutput) => {
        list.replaceChildren(...bars(chosen.labels.map((label, index) => ({ label, score: chosen.scores[index] ?? 0 }))));
        looked = { text: chosen.sequence, text_pair: sentenceOf(chosen.labels[0] ?? '') };
        for (const [index, button] of buttons.entries()) button.setAttribute('aria-pressed', String(results[index] === chosen));
      };
      const buttons = results.map((result) => {
        const [label = ''] = result.labels;
        const tag = make('mark', `entity hue-${hues.get(label) ?? 0}`, label);
        const score = make('span', 'score', percent(result.scores[0] ?? 0));
        return makeButton([make('span', 'label', result.sequence), make('span', 'tag', tag, ' ', score)], () => choose(result));
      });
      sorted.replaceChildren(...buttons.map((button) => make('li', '', button)));
      sorted.hidden = results.length < 2;
      influence.replaceChildren();
      const [first] = results;
      if (!first?.labels[0]) return ['There are no labels.'];
      choose(first);
      if (results.length === 1) return summary(first.labels[0], percent(first.scores[0] ?? 0));
      return summary(count(results.length, 'line'), `under ${count(new Set(results.map((result) => result.labels[0])).size, 'label')}`);
    },
    explain: async (classify, results, signal) => {
      const [result] = results;
      const label = result?.labels[0];
      if (!result || results.length > 1 || label === undefined) return;
      const options = { ...optionsNow(), signal };
      const names = labels.value;
      const score = async (texts: string[]) =>
        (await classify(texts, names, options)).map((one) => one.scores[one.labels.indexOf(label)] ?? 0);
      const found = await influences(result.sequence, score, signal);
      if (found && !signal.aborted) influence.replaceChildren(...influenceView(result.sequence, found, label));
    },
    inside: () => ({ input: looked }),
    lastStep: async (classify) =>
      hidingStep('Line and sentence together say how well a label fits; hide words and see it move.', looked.text, async (words, heads) => {
        const { labels: names, scores } = await classify(words, labels.value, { ...optionsNow(), ...heads });
        return names.map((name, index) => `${name} ${percent(scores[index] ?? 0)}`).join(', ');
      }),
    code: () => {
      const { hypothesis_template, multi_label } = optionsNow();
      const options = {
        hypothesis_template: hypothesis_template === template.defaultValue ? undefined : hypothesis_template,
        multi_label: multi_label || undefined,
      };
      const hasOptions = Object.values(options).some((option) => option !== undefined);
      const args = [linesNow(), namesOf(labels.value), ...(hasOptions ? [options] : [])];
      return { task: 'zero-shot-classification', name: 'classify', args };
    },
  });
  task.offer(examples, ({ name }) => name, fill);
  return task;
}
