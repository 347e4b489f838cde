// The commit of the hub's repository from which a load of a branch or tag takes all its files. They are stored by the address of that commit,
// so that files of two commits are never mixed. An entry next to them names the commit of the last load that succeeded.
import { type FileStore, folderOfPointer } from '../../cache/file_store.js';
import { PeruseError } from '../../errors.js';
import type { MissingRemoteFile, RemoteFile, UrlFolder } from '../folders/folder_url.js';

const kMostMoves = 3;
const kOfRevision = /\/resolve\/([^/]+)\/$/;

export class CommitPin {
  commit: string | undefined;
  private pointed_: string | undefined; // the commit that the cache names
  private next_: string | undefined;
  private moves_ = 0;
  private named_ = 'config.json'; // a file whose answer names the commit
  private readonly ready_: Promise<void>;

  private constructor(
    private readonly remote_: UrlFolder,
    private readonly store_: FileStore,
    private readonly base_: string,
    private readonly name_: string,
  ) {
    this.ready_ = this.read();
  }

  /** Returns undefined if the folder's address is that of a commit. */
  static of(remote: UrlFolder, store: FileStore, name: string): CommitPin | undefined {
    const base = remote.address('');
    const [, revision] = kOfRevision.exec(new URL(base).pathname) ?? [];
    return revision === undefined || /^[0-9a-f]{40}$/.test(revision) ? undefined : new CommitPin(remote, store, base, name);
  }

  ready(): Promise<void> {
    return this.ready_;
  }

  /** The address of a file at the commit. */
  address(file: string): string {
    return this.commit === undefined ? this.remote_.address(file) : addressAt(this.remote_.address(''), this.commit, file);
  }

  get hasMoved(): boolean {
    return this.next_ !== undefined;
  }

  /** Checks that an answer is of the commit. Throws if it is of another: the load must then begin again. */
  async check(file: string, { commit: own, ...remote }: RemoteFile | MissingRemoteFile, signal: AbortSignal): Promise<void> {
    if (own !== undefined) this.named_ = file;
    else if (this.commit === undefined || !remote.found) return;
    // A browser does not see the header if the hub redirects to another server.
    const commit = own ?? (await this.current(signal));
    if (commit === undefined || commit === this.commit) return;
    if (this.commit === undefined) return this.set(commit);
    this.next_ = commit;
    throw new PeruseError('network', `${this.name_} changed on the hub while it was loaded: load it again.`);
  }

  /** Asks the hub for the commit of the branch. */
  async current(signal: AbortSignal): Promise<string | undefined> {
    const now = await this.remote_.headers(this.named_, signal);
    return 'refusal' in now ? undefined : now.commit;
  }

  /** Takes the newer commit. Returns whether there is one. */
  move(): boolean {
    if (this.next_ === undefined || ++this.moves_ > kMostMoves) return false;
    this.commit = this.next_;
    this.next_ = undefined;
    return true;
  }

  /** Records the commit, and removes the files of the one before. */
  async settle(): Promise<void> {
    const before = this.pointed_;
    if (this.commit === undefined || before === this.commit) return;
    await this.store_.saveCommit(this.base_, this.commit);
    this.pointed_ = this.commit;
    if (before !== undefined) await removeCommit(this.store_, this.base_, before);
  }

  private async read(): Promise<void> {
    this.pointed_ = await this.store_.commitOf(this.base_);
    this.commit ??= this.pointed_;
  }

  private async set(commit: string): Promise<void> {
    this.commit = commit;
    if (this.pointed_ !== undefined) return;
    this.pointed_ = commit; // an interrupted first load continues with its own files
    await this.store_.saveCommit(this.base_, commit);
  }
}

/** The address of a file of a commit. `base` is the folder of one of the repository's revisions. */
export function addressAt(base: string, commit: string, file: string): string {
  const url = new URL(base);
  url.pathname = url.pathname.replace(kOfRevision, `/resolve/${commit}/`) + file;
  return url.href;
}

/** Removes the files of a commit, unless another branch or tag is stored of it. Returns their number. */
export async function removeCommit(store: FileStore, base: string, commit: string): Promise<number> {
  const urls = (await store.urls()) ?? [];
  const { origin, pathname } = new URL(addressAt(base, commit, ''));
  const repository = origin + pathname.replace(/[^/]+\/$/, '');
  const revisions = urls.filter((url) => url.startsWith(repository)).flatMap((url) => folderOfPointer(url) ?? []);
  for (const other of revisions) if ((await store.commitOf(other)) === commit) return 0;
  let removed = 0;
  for (const url of urls.filter((one) => one.startsWith(origin + pathname))) {
    const stored = await store.find(url);
    if ((await store.remove(url)) && stored?.missing === false) ++removed;
  }
  return removed;
}
