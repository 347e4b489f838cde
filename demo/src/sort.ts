// The sorting tab: sorts lines by the visitor's labels, or by those of a trained model (praise and complaint).
import { type LabelScore, PeruseError, type Pipeline, pipeline, type Source } from '../peruse/peruse.js';
import { bars } from './bars.js';
import { kOpinions, kSorter } from './bundled.js';
import { sorterModels } from './curated.js';
import { find, make, makeButton, withDirection } from './dom.js';
import { lines as examples, type LinesExample } from './examples.js';
import { count, percent } from './format.js';
import { hidingStep } from './inside/inside.js';
import type { LoadOptions } from './loading.js';
import type { Proof } from './proof.js';
import { type Inspectable, summary, TaskPanel } from './task_panel.js';
import { canExplain, wordScores } from './word_scores.js';

const kHues = 6; // Number of colours in details.css.
const kMostTrays = 8; // Labels that have a tray also without a line.
/** Reads all of a long line, in windows. */
const kWindows = { stride: 64, windows: 'mean' } as const;
const kTrainedOptions = { top_k: null, ...kWindows } as const;
/**
 * With two labels, a best label below this probability is shown as "Not sure". It is the lowest of 0.5, 0.6, 0.65, 0.7, 0.75 and 0.8 at which the
 * bundled model is wrong about less than a tenth of the remarks that its recipe holds out (8.2 %).
 */
const kSure = 0.65;

type Sorter = Pipeline<'zero-shot-classification'> | Pipeline<'text-classification'>;

/** Labels of models for opinions, in the page's words. */
const kWords: Readonly<Record<string, string>> = { POSITIVE: 'Praise', NEGATIVE: 'Complaint' };

function inWords(label: string): string {
  return kWords[label] ?? label;
}

interface Sorted {
  readonly line: string;
  readonly labels: readonly LabelScore[];
}

export function startSort(panel: HTMLElement, proof: Proof): Inspectable {
  const text = find(panel, '[name=text]', HTMLTextAreaElement);
  const labels = find(panel, '[name=labels]', HTMLInputElement);
  const template = find(panel, '[name=template]', HTMLInputElement);
  const preview = find(panel, '.template-preview', HTMLElement);
  const multi = find(panel, '[name=multi]', HTMLInputElement);
  const ownLabels = find(panel, '.own-labels', HTMLElement);
  const sorted = find(panel, '.sorted', HTMLElement);
  const list = find(panel, '.bars', HTMLElement);
  const influence = find(panel, '.influence', HTMLElement);
  const ofLine = find(panel, '.of-line', HTMLElement);
  let isTrained = false;
  // With the visitor's labels: a line, and the sentence made from its best label.
  let looked: string | { text: string; text_pair: string } = '';

  const linesNow = () => splitAt(text.value, '\n');
  const namesNow = () => splitAt(labels.value, ',');
  const optionsNow = () => ({ hypothesis_template: template.value, multi_label: multi.checked });
  const sentenceOf = (label: string) => template.value.replace('{}', label);
  const showPreview = () => {
    preview.textContent = `For example: \u201c${sentenceOf(namesNow()[0] ?? '')}\u201d`;
  };
  /** Shows the field for labels only for models that take labels. */
  const showKind = (trained: boolean, names: readonly string[] = []) => {
    isTrained = trained;
    for (const field of panel.querySelectorAll<HTMLElement>('.fields .of-labels')) field.hidden = trained;
    ownLabels.hidden = !trained;
    ownLabels.textContent =
      names.length > 0 ? `This model has labels of its own: ${names.map(inWords).join(', ')}.` : 'This model has labels of its own.';
  };
  const labelled = async (sorter: Sorter, texts: readonly string[], options: object): Promise<Sorted[]> => {
    if (takesLabels(sorter)) {
      const results = await sorter([...texts], labels.value, { ...optionsNow(), ...options });
      return results.map(({ sequence, labels: names, scores }) => ({
        line: sequence,
        labels: names.map((label, index) => ({ label, score: scores[index] ?? 0 })),
      }));
    }
    const results = await sorter([...texts], { ...kTrainedOptions, ...options });
    return results.map((each, index) => ({ line: texts[index] ?? '', labels: each }));
  };

  const fill = ({ text: words, labels: names }: LinesExample) => {
    text.value = words;
    if (names !== undefined) labels.value = names;
    task?.useBundled(names === undefined ? kOpinions : kSorter);
  };

  let task: TaskPanel<Sorter, Sorted[]> | undefined;
  if (examples[0]) fill(examples[0]);
  showPreview();
  panel.addEventListener('input', showPreview);
  task = new TaskPanel<Sorter, Sorted[]>(panel, proof, {
    bundled: [kSorter, kOpinions],
    curated: sorterModels,
    onModel: (chosen) => {
      if (chosen !== undefined) showKind(chosen === kOpinions.task);
    },
    load: async (source, options, chosen) => {
      const sorter = await loadSorter(source, options, chosen);
      showKind(!takesLabels(sorter));
      return sorter;
    },
    ask: (sorter, signal) => {
      const lines = linesNow();
      if (lines.length === 0) throw new PeruseError('empty_text', 'There are no lines.');
      return labelled(sorter, lines, { signal });
    },
    askAbout: (sorter, words, signal) => labelled(sorter, [words], { signal }),
    show: (results) => {
      const order = isTrained ? [...(results[0]?.labels ?? [])].map(({ label }) => label).sort() : namesNow();
      if (isTrained) showKind(true, order);
      const choose = (chosen: Sorted) => {
        list.replaceChildren(...bars(chosen.labels.map(({ label, score }) => ({ label: inWords(label), score }))));
        const best = chosen.labels[0]?.label ?? '';
        ofLine.textContent = `Under each label: \u201c${chosen.line}\u201d`;
        looked = isTrained ? chosen.line : { text: chosen.line, text_pair: sentenceOf(best) };
        for (const [index, button] of buttons.entries()) button.setAttribute('aria-pressed', String(results[index] === chosen));
      };
      const buttons = results.map((result) => {
        const [best] = result.labels;
        const score = make('span', 'score', percent(best?.score ?? 0));
        const button = makeButton([withDirection(make('span', 'label', result.line)), score], () => choose(result));
        button.className = 'slip';
        return button;
      });
      sorted.replaceChildren(...traysOf(results, buttons, order));
      sorted.hidden = ofLine.hidden = results.length < 2;
      influence.replaceChildren();
      const [first] = results;
      const best = first?.labels[0];
      if (!first || !best) return ['There are no labels.'];
      choose(first);
      if (results.length === 1) {
        const isSure = !isTrained || first.labels.length !== 2 || best.score >= kSure;
        const word = inWords(best.label);
        return isSure ? summary(word, percent(best.score)) : summary('Not sure', `(${word}, ${percent(best.score)})`);
      }
      return summary(
        count(results.length, 'line'),
        `under ${count(new Set(results.map((result) => result.labels[0]?.label)).size, 'label')}`,
      );
    },
    explain: async (sorter, results, signal) => {
      const [result] = results;
      const label = result?.labels[0]?.label;
      if (!result || results.length > 1 || label === undefined || !canExplain(result.line)) return;
      const options = { label, replacement: '', signal };
      const { words } = takesLabels(sorter)
        ? await sorter.explain(result.line, labels.value, { ...optionsNow(), ...options })
        : await sorter.explain(result.line, { ...kWindows, ...options });
      if (!signal.aborted) influence.replaceChildren(...wordScores(result.line, words, inWords(label)));
    },
    inside: () => ({ input: looked }),
    lastStep: async (sorter) => {
      const sentence = isTrained
        ? 'The first token\u2019s numbers become one score a label; hide words and see them move.'
        : 'Line and sentence together say how well a label fits; hide words and see it move.';
      return hidingStep(sentence, typeof looked === 'string' ? looked : looked.text, async (words, heads) => {
        const [one] = await labelled(sorter, [words], { ...heads });
        return (one?.labels ?? []).map(({ label, score }) => `${inWords(label)} ${percent(score)}`).join(', ');
      });
    },
    code: () => {
      if (isTrained) return { task: kOpinions.task, name: 'classify', args: [linesNow(), kTrainedOptions] };
      const { hypothesis_template, multi_label } = optionsNow();
      const options = {
        hypothesis_template: hypothesis_template === template.defaultValue ? undefined : hypothesis_template,
        multi_label: multi_label || undefined,
      };
      const hasOptions = Object.values(options).some((option) => option !== undefined);
      return { task: kSorter.task, name: 'classify', args: [linesNow(), namesNow(), ...(hasOptions ? [options] : [])] };
    },
  });
  task.offer(examples, ({ name }) => name, fill);
  return task;
}

/** A compartment for each label, with the lines that have it. Many labels get one only if they have a line. */
function traysOf(results: readonly Sorted[], slips: readonly HTMLElement[], order: readonly string[]): HTMLElement[] {
  const labels = order.length <= kMostTrays ? order : [...new Set(results.map((result) => result.labels[0]?.label ?? ''))];
  return labels.map((label) => {
    const inIt = slips.filter((_, index) => results[index]?.labels[0]?.label === label);
    const plate = make('p', `tray-name entity hue-${order.indexOf(label) % kHues}`);
    plate.append(withDirection(make('mark', '', inWords(label))), make('span', 'count', String(inIt.length)));
    return make('li', 'tray', plate, make('ul', '', ...inIt.map((slip) => make('li', '', slip))));
  });
}

function splitAt(words: string, separator: string): string[] {
  return words
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function takesLabels(sorter: Sorter): sorter is Pipeline<'zero-shot-classification'> {
  return sorter.info.task === 'zero-shot-classification';
}

/** A model of natural-language inference takes any labels; other models have their own. */
async function loadSorter(source: Source, options: LoadOptions, chosen: string | undefined): Promise<Sorter> {
  if (chosen === kOpinions.task) return pipeline('text-classification', source, options);
  try {
    return await pipeline('zero-shot-classification', source, options);
  } catch (error) {
    if (chosen !== undefined || !(error instanceof PeruseError && error.code === 'unsupported')) throw error;
    return pipeline('text-classification', source, options);
  }
}
