// Keeps in build/mutants what earlier runs of the command have found, so that a run that was stopped goes on where it was.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../setup/root.mjs';

export const hash = (...texts) => createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 16);

/** Identifies a mutant while its file stays the same. */
export const keyOf = ({ file, start, change }) => hash(file, readFileSync(join(root, file), 'utf8'), start, change);

export class Memory {
  #file;
  #fates = {};
  /** Test file: { hash, seconds, asked, reached }: the text's hash, processor time, and the keys of the mutants that were looked for and found. */
  tests = {};

  constructor(part, fresh) {
    this.#file = join(root, 'build/mutants', `${part}.json`);
    if (fresh || !existsSync(this.#file)) return;
    const { fates, tests } = JSON.parse(readFileSync(this.#file, 'utf8'));
    this.#fates = fates;
    this.tests = tests;
  }

  /** The fate of a mutant. One that survived is tried again when a test has changed. */
  fateOf(mutant, tests) {
    const known = this.#fates[mutant.key];
    return known === undefined || (known.tests !== undefined && known.tests !== tests) ? undefined : known.fate;
  }

  /** Stores a fate; `tests` is the hash of the tests that did not notice the mutant. */
  store(mutant, fate, tests) {
    mutant.fate = fate;
    this.#fates[mutant.key] = { fate, where: mutant.where, tests };
    this.save();
  }

  save() {
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(`${this.#file}.new`, JSON.stringify({ fates: this.#fates, tests: this.tests }));
    renameSync(`${this.#file}.new`, this.#file);
  }
}

export function withoutNested(places) {
  const overlaps = (a, b) => a.file === b.file && a.start < b.end && b.start < a.end;
  return places.filter((one, i) => !places.slice(0, i).some((earlier) => overlaps(one, earlier)));
}

/** Finds the fates of mutants, `atOnce` at the same time. `tests` is the hash of the tests. */
export async function tryAll(mutants, atOnce, memory, tests, fateOf) {
  const waiting = [...mutants];
  const work = async () => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const fate = await fateOf(mutant);
      memory.store(mutant, fate, fate === 'killed' ? undefined : tests);
      console.log(`${fate}: ${mutant.where}: ${mutant.change.slice(0, 120)}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
