// "Look inside": shows step by step what the model computed for the text of the last call.
import type { InspectCall } from '../../peruse/peruse.js';
import { make, makeButton } from '../dom.js';
import { describeFailure } from '../failure.js';
import { count, shortPercent } from '../format.js';
import { Arcs, kMostForArcs } from './arcs.js';
import { AttentionMap } from './attention_map.js';
import { Concentration } from './concentration.js';
import { EmbeddingView } from './embedding_view.js';
import { HeadPicker } from './head_picker.js';
import { repaint } from './heat.js';
import { HideView } from './hide_view.js';
import { KernelSlides } from './kernel_slides.js';
import { chooseHead } from './measure.js';
import { type HeadMask, MuteView } from './mute_view.js';
import { type Input, type Reading, readInside } from './reading.js';
import { rove } from './roving.js';
import { type Change, describeToken, firstNameOrVerb, type Selection, type View } from './selection.js';
import { TokenStrip } from './token_strip.js';

export interface LookedAt {
  readonly input: Input;
  /** Position in the text around which a long text is cut. */
  readonly focus?: number;
}

/** Describes the model's answer about a text, without the heads that the visitor has muted. */
export type Say = (text: string, heads?: { head_mask?: HeadMask }) => Promise<string>;

/** The last step shows the answer. */
export interface LastStep {
  readonly sentence: string;
  readonly element: HTMLElement;
  readonly text: string;
  readonly say: Say;
}

export function hidingStep(sentence: string, text: string, say: Say): LastStep {
  return { sentence, element: new HideView(text, say).element, text, say };
}

interface Step {
  readonly name: string;
  readonly sentence: string;
  readonly element: HTMLElement;
}

const kNothing = 'Ask something first; then the model\u2019s way to its answer appears here.';

export class Inside<Model extends { inspect: InspectCall }> {
  private place_: HTMLElement | undefined;
  private input_: LookedAt | undefined;
  private shown_: LookedAt | undefined;
  private step_ = 0;

  /** `model` returns the loaded model, if there is one; `answer` returns the last step. */
  constructor(
    private readonly model_: () => Model | undefined,
    private readonly answer_: (model: Model) => Promise<LastStep>,
  ) {}

  showIn(place: HTMLElement): void {
    this.place_ = place;
    this.shown_ = undefined;
    place.replaceChildren(make('p', 'hint', kNothing));
    void this.inspect();
  }

  /** Sets the text to inspect; undefined if there was no call. */
  use(input: LookedAt | undefined): void {
    this.input_ = input;
    this.shown_ = undefined;
    void this.inspect();
  }

  private async inspect(): Promise<void> {
    const [input, place, model] = [this.input_, this.place_, this.model_()];
    if (!place || place.closest('[hidden]') || input === undefined || input === this.shown_ || !model) return;
    this.shown_ = input;
    try {
      const reading = await readInside(model.inspect, input.input, input.focus);
      const last = await this.answer_(model);
      if (this.shown_ === input && this.place_ === place) this.show(place, reading, model, last);
    } catch (error) {
      if (this.shown_ === input && this.place_ === place) place.replaceChildren(...describeFailure(error));
    }
  }

  leave(): void {
    this.place_ = undefined;
  }

  private show(in_: HTMLElement, reading: Reading, model: Model, last: LastStep): void {
    const { shared, steps } = stepsOf(reading, model.inspect, last);
    const sentence = make('p', 'sentence');
    sentence.setAttribute('role', 'status');
    const place = make('div', 'step');
    const go = (to: number) => {
      this.step_ = Math.max(0, Math.min(to, steps.length - 1));
      const step = steps[this.step_];
      for (const [index, button] of buttons.entries()) button.setAttribute('aria-pressed', String(index === this.step_));
      sentence.textContent = step?.sentence ?? '';
      place.replaceChildren(...(step ? [step.element] : []));
      repaint(place);
      shared.hidden = this.step_ === steps.length - 1 || step?.name === 'Convolution';
      next.hidden = this.step_ === steps.length - 1;
    };
    const buttons = steps.map(({ name }, index) => makeButton([`${index + 1} ${name}`], () => go(index)));
    const next = makeButton(['Next'], () => go(this.step_ + 1));
    next.className = 'next';
    const bar = make('div', 'steps', ...buttons);
    bar.setAttribute('role', 'group');
    bar.setAttribute('aria-label', 'Steps');
    rove(bar, buttons);
    const cut = reading.isCut ? [make('p', 'hint', `Only ${reading.inspection.tokens.length} tokens around the answer are shown.`)] : [];
    in_.replaceChildren(bar, sentence, ...cut, shared, place, make('p', 'actions', next));
    go(this.step_);
  }
}

/** Returns the views of an inspection. They share the chosen token and head: a choice in one view changes all of them. */
function stepsOf({ inspection, input, terms }: Reading, inspect: InspectCall, last: LastStep): { shared: HTMLElement; steps: Step[] } {
  const first = firstNameOrVerb(inspection, input);
  const chosen = chooseHead(inspection);
  const selection: Selection = { layer: chosen.layer, head: chosen.head, token: Math.max(0, first), other: undefined };
  const said = make('p', 'readout');
  const parts: View[] = [];
  const change: Change = (changed) => {
    Object.assign(selection, { other: undefined }, changed);
    for (const part of parts) part.update(selection);
    said.textContent = describeToken(inspection, input, selection);
  };
  const strip = new TokenStrip(inspection, input, change);
  const embedding = new EmbeddingView(inspection, input);
  const heads = new HeadPicker(inspection, change);
  const map = new AttentionMap(inspection, input, change, terms);
  const mute = new MuteView(
    inspection,
    (head_mask) => last.say(last.text, head_mask && { head_mask }),
    (layer, head, isMuted) => heads.mark(layer, head, isMuted),
  );
  parts.push(strip, embedding, heads, map, mute);
  const attention = make('div', 'inside-column');
  if (inspection.tokens.length <= kMostForArcs) {
    const arcs = new Arcs(inspection, input);
    parts.push(arcs);
    attention.append(arcs.element);
  }
  const left = make('div', 'inside-column', heads.element, mute.element);
  if (inspection.diagonal_concentration) left.append(new Concentration(inspection.diagonal_concentration).element);
  attention.append(said, make('div', 'inside-columns', left, make('div', 'inside-column', map.element)));
  change({});

  const width = inspection.hidden_states?.[0]?.dims[1] ?? 0;
  const steps: Step[] = [
    {
      name: 'Tokens',
      sentence: `The model reads ${count(inspection.tokens.length, 'token')} from a vocabulary of its own: words, and pieces of rarer words.`,
      element: make(
        'p',
        'hint',
        'Point at a token, tap it, or go from one to the next with the arrow keys; the steps that follow are about it. The stronger the colour ' +
          'of another token, the more one attention head looks from the outlined token to it (step 3).',
      ),
    },
    {
      name: 'Embedding',
      sentence: `Each token becomes ${width} numbers, a row of colours here; words that are used alike have rows alike.`,
      element: embedding.element,
    },
    {
      name: 'Attention',
      sentence:
        `Of ${count(chosen.heads, 'head')}, head ${chosen.head + 1} of layer ${chosen.layer + 1} looks most decidedly from word to word, ` +
        `each at another: ${shortPercent(chosen.decided)} of a word\u2019s attention, on average, goes to one other word.`,
      element: attention,
    },
    ...(inspection.span_kernels
      ? [
          {
            name: 'Convolution',
            sentence: 'ConvBERT also mixes neighbours, by a kernel that it makes anew at every place from the words around.',
            element: new KernelSlides(inspect).element,
          },
        ]
      : []),
    { name: 'Answer', ...last },
  ];
  return { shared: strip.element, steps };
}
