// ConvBERT's span kernels for a word that occurs several times. Each occurrence has a different kernel, because the kernel depends on the
// surrounding words. Plain dynamic convolution computes the kernel from the word alone.
import type { InspectCall, Inspection } from '../../peruse/peruse.js';
import { make } from '../dom.js';
import { shortPercent } from '../format.js';
import { tokenText } from './selection.js';

const kSentence = 'A good cast and good music do not make a good film.';
const kPlaces = 3;

export class KernelSlides {
  readonly element = make('div', 'kernels');
  private readonly input_ = make('input', '');
  private readonly said_ = make('p', 'readout');
  private readonly rows_ = make('div', 'slides');
  private isBusy_ = false;
  private isAskedAgain_ = false;

  constructor(private readonly inspect_: InspectCall) {
    this.input_.type = 'text';
    this.input_.value = kSentence;
    this.input_.name = 'kernel-sentence';
    this.input_.addEventListener('input', () => void this.read());
    this.said_.setAttribute('role', 'status');
    const label = make('label', '', 'A sentence with one word three times; change a neighbour and watch ', this.input_);
    const key = make(
      'p',
      'hint',
      make('span', 'key span-key'),
      ' ConvBERT\u2019s kernel, made from the words around ',
      make('span', 'key word-key'),
      ' one kernel for the word alone, as plain dynamic convolution has it (here the mean of all its places)',
    );
    this.element.append(label, this.said_, this.rows_, key);
    void this.read();
  }

  private async read(): Promise<void> {
    this.isAskedAgain_ = true;
    if (this.isBusy_) return;
    this.isBusy_ = true;
    while (this.isAskedAgain_) {
      this.isAskedAgain_ = false;
      const text = this.input_.value;
      // If the model cannot read the text, the display stays unchanged.
      await this.inspect_(text, { output_span_kernels: true, truncation: true }).then(
        (inspection) => this.show(inspection, text),
        () => {},
      );
    }
    this.isBusy_ = false;
  }

  private show(inspection: Inspection, text: string): void {
    const places = samePlaces(inspection, text).slice(0, kPlaces);
    const kernels = inspection.span_kernels?.[0];
    if (places.length < 2 || !kernels) {
      this.said_.textContent = 'Use one word at least twice.';
      this.rows_.replaceChildren();
      return;
    }
    const [, heads = 1, size = 1] = kernels.dims;
    const kernelOf = (place: number, head: number) => {
      const start = (place * heads + head) * size;
      return kernels.data.subarray(start, start + size);
    };
    const head = mostVaried(places, heads, kernelOf);
    const own = places.map((place) => kernelOf(place, head));
    const mean = Array.from({ length: size }, (_, tap) => own.reduce((sum, kernel) => sum + (kernel[tap] ?? 0), 0) / own.length);
    const most = Math.max(...own.flatMap((kernel) => [...kernel]), 1e-6);
    const word = tokenText(inspection, text, places[0] ?? 0);
    this.said_.textContent = `\u201c${word}\u201d ${own.length} times, layer 1, head ${head + 1}: ${own.length} kernels.`;
    this.rows_.replaceChildren(...places.map((place, row) => slide(inspection, text, place, own[row] ?? new Float32Array(), mean, most)));
  }
}

/** The tokens of the most frequent word. */
function samePlaces(inspection: Inspection, text: string): number[] {
  const places = new Map<string, number[]>();
  for (const [index, { special }] of inspection.tokens.entries()) {
    const word = tokenText(inspection, text, index).toLowerCase();
    if (!special && /\p{L}{3}/u.test(word)) places.set(word, [...(places.get(word) ?? []), index]);
  }
  return [...places.values()].sort((a, b) => b.length - a.length)[0] ?? [];
}

/** The head whose kernels differ most from place to place. */
function mostVaried(places: readonly number[], heads: number, kernelOf: (place: number, head: number) => Float32Array): number {
  const first = places[0] ?? 0;
  const varied = Array.from({ length: heads }, (_, head) =>
    places.reduce(
      (sum, place) => sum + kernelOf(place, head).reduce((d, w, tap) => d + Math.abs(w - (kernelOf(first, head)[tap] ?? 0)), 0),
      0,
    ),
  );
  return varied.indexOf(Math.max(...varied));
}

/** One occurrence of the word: bars for its kernel over the words, next to those of the kernel for the word alone. */
function slide(
  inspection: Inspection,
  text: string,
  place: number,
  kernel: Float32Array,
  mean: readonly number[],
  most: number,
): HTMLElement {
  const columns = Array.from(kernel, (weight, tap) => {
    const index = place + tap - (kernel.length - 1) / 2;
    const bar = (name: string, share: number) => {
      const element = make('span', `tap-bar ${name}`);
      element.style.setProperty('--weight', String(Math.max(0, share / most)));
      return element;
    };
    const column = make('span', 'tap-column', bar('of-span', weight), bar('of-word', mean[tap] ?? 0));
    column.setAttribute('aria-hidden', 'true');
    const word = make('span', 'tap-word', tokenText(inspection, text, index) || '\u2013');
    return make('li', index === place ? 'middle' : '', column, word, make('span', 'score', shortPercent(weight)));
  });
  return make('ol', 'taps', ...columns);
}
