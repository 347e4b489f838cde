// Placeholders: numbers what is taken out of texts, and puts it back.
import { PeruseError } from '../errors.js';
import { checkString, nameOf } from './call.js';

/** What restore() takes for a placeholder. */
const kBrackets = /\[[^[\]]+\]/g;

/** Puts back what `redact` took out: every placeholder of the mapping becomes what it stands for. */
export function restore(text: string, mapping: Readonly<Record<string, string>>): string {
  if (typeof mapping !== 'object' || mapping === null) {
    throw new PeruseError('invalid_argument', `The mapping must be an object, not ${nameOf(mapping)}.`);
  }
  return checkString(text, 'The text').replaceAll(kBrackets, (placeholder) =>
    Object.hasOwn(mapping, placeholder) ? mapping[placeholder]! : placeholder,
  );
}

/** Gives the same text of a type the same placeholder, and none that stands in a text already. */
export class Placeholders {
  private readonly byText_ = new Map<string, string>();
  private readonly texts_ = new Map<string, string>();
  private readonly counts_ = new Map<string, number>();
  /** What the texts themselves have in brackets. */
  private readonly written_ = new Set<string>();
  private mapping_: Readonly<Record<string, string>> | undefined;

  constructor(mapping: Readonly<Record<string, string>> = {}) {
    for (const [placeholder, text] of Object.entries(mapping)) this.add(placeholder, placeholder.replace(/_\d+\]$/, ''), text);
  }

  /** Notes what stands in a text in brackets; all texts of a call come before the first placeholder is made. */
  note(text: string): void {
    for (const [written] of text.matchAll(kBrackets)) this.written_.add(written);
  }

  /** Placeholders of earlier texts that a text holds literally: restore() would take them for what was taken out there. */
  standingIn(text: string): { start: number; end: number }[] {
    const known = [...text.matchAll(kBrackets)].filter(([written]) => this.texts_.has(written));
    return known.map(({ 0: written, index }) => ({ start: index, end: index + written.length }));
  }

  of(type: string, text: string): string {
    const name = `[${type.toUpperCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_') || 'ENTITY'}`;
    const known = this.byText_.get(`${name} ${text}`);
    if (known !== undefined) return known;
    for (;;) {
      const count = (this.counts_.get(name) ?? 0) + 1;
      this.counts_.set(name, count);
      const placeholder = `${name}_${count}]`;
      if (this.texts_.has(placeholder) || this.written_.has(placeholder)) continue;
      this.add(placeholder, name, text);
      return placeholder;
    }
  }

  /** What each placeholder stands for: one frozen object as long as none is added. */
  mapping(): Readonly<Record<string, string>> {
    this.mapping_ ??= Object.freeze(Object.fromEntries(this.texts_));
    return this.mapping_;
  }

  private add(placeholder: string, name: string, text: string): void {
    this.byText_.set(`${name} ${text}`, placeholder);
    this.texts_.set(placeholder, text);
    this.mapping_ = undefined;
  }
}
