// "Look inside": what the model computed on the way to its answer, for the text of the last call.
import { PeruseError, type InspectCall, type Inspection, type TextPair } from '../../peruse/dist/index.js';
import { find, make } from '../dom.js';
import { describeFailure } from '../failure.js';
import { Concentration } from './concentration.js';
import { AttentionMap } from './attention_map.js';
import { HeadPicker } from './head_picker.js';
import { KernelView } from './kernel_view.js';
import { describeToken, type Look, type View } from './look.js';
import { TokenStrip } from './token_strip.js';

type Input = string | TextPair;

export class Inside {
  private readonly body_: HTMLElement;
  private input_: Input | undefined;
  private shown_: Input | undefined;

  /** `inspect` gives the call of the model that is loaded, if one is. */
  constructor(private readonly box_: HTMLDetailsElement, private readonly inspect_: () => InspectCall | undefined) {
    this.body_ = find(box_, '.inside-body', HTMLElement);
    box_.addEventListener('toggle', () => void this.look());
    this.use(undefined);
  }

  /** From now on it is about this text; about none if there is no call to look into. */
  use(input: Input | undefined): void {
    this.input_ = input;
    this.shown_ = undefined;
    if (input === undefined) this.body_.replaceChildren(make('p', 'hint', 'Ask something first; then its tokens and the model\u2019s attention appear here.'));
    void this.look();
  }

  private async look(): Promise<void> {
    const input = this.input_;
    const inspect = this.inspect_();
    if (!this.box_.open || input === undefined || input === this.shown_ || !inspect) return;
    this.shown_ = input;
    try {
      const reading = await inspectAll(inspect, input);
      if (this.shown_ === input) this.body_.replaceChildren(...views(reading, input));
    } catch (error) {
      if (this.shown_ === input) this.body_.replaceChildren(...describeFailure(error));
    }
  }
}

interface Reading {
  inspection: Inspection;
  /** The text is longer than the model takes at once, and only its beginning was read. */
  isCut: boolean;
}

/** Attention, span kernels where the model has them, and as much of the text as it takes. */
async function inspectAll(inspect: InspectCall, input: Input): Promise<Reading> {
  const options = { output_attentions: true, output_span_kernels: true, truncation: false };
  for (;;) {
    try {
      return { inspection: await inspect(input, options), isCut: options.truncation };
    } catch (error) {
      const code = error instanceof PeruseError ? error.code : undefined;
      if (code === 'unsupported' && options.output_span_kernels) options.output_span_kernels = false;
      else if (code === 'text_too_long' && !options.truncation) options.truncation = true;
      else throw error;
    }
  }
}

/** The views of one inspection. They share what is looked at: pointing at a token, a map or a cell in one moves all. */
function views({ inspection, isCut }: Reading, input: Input): HTMLElement[] {
  const first = inspection.tokens.findIndex(({ special }) => !special);
  const look: Look = { layer: 0, head: 0, token: Math.max(0, first), other: undefined };
  const said = make('p', 'readout');
  said.setAttribute('role', 'status');
  const parts: View[] = [];
  const change = (changed: Partial<Look>) => {
    Object.assign(look, { other: undefined }, changed);
    for (const part of parts) part.update(look);
    said.textContent = describeToken(inspection, input, look);
  };
  const strip = new TokenStrip(inspection, input, change);
  const heads = new HeadPicker(inspection, change);
  const map = new AttentionMap(inspection, input, change);
  parts.push(strip, heads, map);
  const left = make('div', 'inside-column', heads.element);
  const right = make('div', 'inside-column', map.element);
  if (inspection.diagonal_concentration) left.append(new Concentration(inspection.diagonal_concentration).element);
  if (inspection.span_kernels) {
    const kernels = new KernelView(inspection, input);
    parts.push(kernels);
    right.append(kernels.element);
  }
  change({});
  const hint = 'Point at a word, or go from word to word with the arrow keys: the colours show where the chosen head looks from there.' +
    (isCut ? ` Only the first ${inspection.tokens.length} tokens are here: the model takes no more at once.` : '');
  return [make('p', 'hint', hint), strip.element, said, make('div', 'inside-columns', left, right)];
}
