// Error messages for visitors: a sentence that says what to do, then the library's message and code.
import { type ErrorCode, PeruseError } from '../peruse/peruse.js';
import { make } from './dom.js';

const kDamaged = 'The model\u2019s files are damaged or do not fit together. Loading them again may help.';
const kReload = 'Something broke inside the engine. Trying again loads it afresh.';

const advice: Partial<Record<ErrorCode, string>> = {
  empty_text: 'There is nothing to read yet. Type or paste some text, or click on an example.',
  text_too_long: 'This text is longer than the model can take. Please shorten it.',
  out_of_memory: 'There was not enough memory for this. A shorter text, or closing other tabs, may help.',
  network: 'The model could not be fetched. Please check its name and the connection, and try again.',
  unauthorized: 'There is no such model, or it is not open to everybody: its owner wants to be asked first.',
  not_found: 'There is no such model, or a file of it is missing.',
  malformed_file: kDamaged,
  truncated_file: kDamaged,
  missing_tensor: kDamaged,
  shape_mismatch: kDamaged,
  invalid_argument: 'That is not something Peruse can use. Please check the model\u2019s name and the fields above.',
  unsupported: 'Peruse does not run this model, or not with these settings.',
  missing_head: 'This checkpoint was not trained for this task: it lacks the layer that would answer.',
  no_gpu: 'There is no GPU here that this page may use. The CPU does the same work: choose it below.',
  gpu_lost: 'The GPU went away. Trying again looks for it afresh; the CPU, below, does the same work.',
  gpu_failed: 'The GPU\u2019s driver refused the work. The CPU does the same: choose it below.',
  no_wasm: 'The WebAssembly engine could not be started here. A recent version of any major browser can run it.',
  worker_died: kReload,
  disposed: kReload,
};

/** Whether a loaded model is unusable after the failure. */
export function isFatal(error: unknown): boolean {
  return hasCode(error, 'worker_died', 'gpu_lost', 'gpu_failed', 'disposed', 'internal');
}

export function isAborted(error: unknown): boolean {
  return hasCode(error, 'aborted') || (error instanceof DOMException && error.name === 'AbortError');
}

export function isEmptyText(error: unknown): boolean {
  return hasCode(error, 'empty_text');
}

function hasCode(error: unknown, ...codes: ErrorCode[]): boolean {
  return error instanceof PeruseError && codes.includes(error.code);
}

const kNoDemoModels =
  'This copy of the page has no demo models. Install the package peruse-demo and start the page again, or choose a model below.';

/** Why another model could not take the place of the loaded one. */
export function describeFailedChange(error: unknown): Node[] {
  if (isAborted(error)) return [make('p', '', 'Cancelled: the model that you had stays.')];
  const [said, cause] = describeFailure(error);
  const isAway = hasCode(error, 'network', 'offline');
  const sentence = isAway ? 'That model cannot be reached now: ' : `${said?.textContent} Until then, `;
  return [make('p', '', `${sentence}the model that you had stays.`), ...(cause ? [cause] : [])];
}

export function describeFailure(error: unknown): Node[] {
  const code = error instanceof PeruseError ? error.code : 'internal';
  const words = error instanceof Error ? error.message : String(error);
  const isDemoModel = words.includes(new URL('models/', document.baseURI).href);
  const kind = code === 'not_found' && isDemoModel ? kNoDemoModels : (advice[code] ?? 'That did not work. The page can still be used.');
  return [make('p', '', kind), make('p', 'cause', make('code', '', code), ' ', words)];
}
