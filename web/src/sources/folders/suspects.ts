// The files of a load that may be the cause if it fails: those from the cache, and those that the load has stored.
import type { FileStore, StoredFile } from '../../cache/file_store.js';
import type { PlainError } from '../../errors.js';

/** A file with more bytes is only fetched again if the server's headers differ. */
const kSmall = 1 << 20;
/** Errors that wrong bytes in a file cause. */
const kOfBytes = ['malformed_file', 'truncated_file', 'missing_tensor', 'shape_mismatch', 'unsupported'];
/** Errors after which files that the load has stored are removed again. */
const kOfBadFiles = ['malformed_file', 'truncated_file'];

type HasChanged = (file: string, stored: StoredFile) => Promise<boolean>;

export class Suspects {
  private readonly given_ = new Map<string, StoredFile>();
  private readonly saved_ = new Map<string, { url: string; missing: boolean }>();
  private readonly doubted_ = new Set<string>();

  constructor(
    private readonly store_: FileStore,
    private readonly options_: { offline: boolean; name: string },
  ) {}

  /** The load has got a file from the cache. */
  given(file: string, stored: StoredFile): void {
    this.given_.set(file, stored);
  }

  saved(file: string, url: string, missing: boolean): void {
    this.saved_.set(file, { url, missing });
  }

  /** Whether a file must be fetched although it is stored. */
  isDoubted(file: string): boolean {
    return this.doubted_.has(file);
  }

  /** Makes a file be fetched although it is stored. */
  refetch(file: string): void {
    this.doubted_.add(file);
  }

  reset(): void {
    this.given_.clear();
    this.doubted_.clear();
  }

  /** Doubts the files that the error names, then all others. Returns whether there were any. `hasChanged` asks the server. */
  async doubt(error: PlainError, hasChanged: HasChanged): Promise<boolean> {
    if (this.options_.offline) return false;
    const isMissing = error.code === 'not_found';
    if (!isMissing && !kOfBytes.includes(error.code)) return false;
    const all = [...this.given_].filter(([file, { missing }]) => !this.doubted_.has(file) && (missing || !isMissing));
    const named = all.filter(([file]) => names(error, file));
    if (await this.doubtSome(named, hasChanged)) return true;
    return error.code !== 'unsupported' && this.doubtSome(all, hasChanged); // most models that are not supported are sound
  }

  private async doubtSome(some: [string, StoredFile][], hasChanged: HasChanged): Promise<boolean> {
    const wrong = await Promise.all(some.map(async ([file, stored]) => stored.bytes <= kSmall || hasChanged(file, stored)));
    const files = some.flatMap(([file], index) => (wrong[index] ? [file] : []));
    for (const file of files) this.doubted_.add(file);
    return files.length > 0;
  }

  /** Removes what this load has stored, if the error may be caused by it. */
  async giveUp(error: PlainError): Promise<string | undefined> {
    const isMissing = error.code === 'not_found';
    const saved = [...this.saved_].filter(([, { missing }]) => missing === isMissing);
    const named = isMissing ? [] : saved.filter(([file]) => names(error, file));
    const wrong = named.length > 0 ? named : saved;
    if (isMissing || kOfBadFiles.includes(error.code)) for (const [, { url }] of wrong) await this.store_.remove(url);
    const isStored = [...this.given_].some(([file, { missing }]) => !missing && !this.saved_.has(file) && names(error, file));
    if (!kOfBadFiles.includes(error.code) || !isStored) return undefined;
    return `The file is in the cache; modelCache.delete('${this.options_.name}') removes it.`;
  }
}

function names({ message }: PlainError, file: string): boolean {
  return message.includes(file);
}
