// A load that failed because of what a cache gave, or because the files changed meanwhile, is repeated with files from the server.
import { PeruseError, type PlainError, toPlainError } from '../../errors.js';
import type { ModelFolder, SourceSpec } from '../source.js';

/** Decides what happens with a folder's files after a load. */
export interface Recovery {
  /** Returns whether the load may succeed if it is repeated. */
  doubt(error: PlainError): Promise<boolean>;
  /** Removes what the failed load stored, if it may be the cause. Returns a sentence for the error. */
  giveUp(error: PlainError): Promise<string | undefined>;
  /** Makes what a load has stored count, because the load succeeded. */
  settle(): Promise<void>;
}

/** A folder that may have a cache. */
export type RecoverableFolder = ModelFolder & { readonly recovery?: Recovery };

/** Folders that a load has opened, by their sources. A repeated load gets the same ones. */
export type OpenedFolders = Map<SourceSpec, RecoverableFolder>;

const kMostTries = 6;

/** Runs `load`, which opens its sources in `opened`. */
export async function healing<T>(load: (opened: OpenedFolders) => Promise<T>): Promise<T> {
  const opened: OpenedFolders = new Map();
  const recoveries = () => [...opened.values()].flatMap(({ recovery }) => (recovery ? [recovery] : []));
  for (let tries = 1; ; ++tries) {
    try {
      const loaded = await load(opened);
      await Promise.all(recoveries().map((one) => one.settle()));
      return loaded;
    } catch (error) {
      const plain = toPlainError(error);
      if (plain.code === 'aborted' || plain.code === 'disposed') throw error;
      const doubts = tries < kMostTries ? await Promise.all(recoveries().map((one) => one.doubt(plain))) : [];
      if (doubts.includes(true)) continue;
      const hints = await Promise.all(recoveries().map((one) => one.giveUp(plain)));
      const hint = hints.find((one) => one !== undefined);
      throw hint === undefined ? error : new PeruseError(plain.code, `${plain.message} ${hint}`, { cause: error });
    }
  }
}
