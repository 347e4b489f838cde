import { filesOf } from '../peruse/peruse.js';

/** A checkpoint's files have fixed names; every other file is a text. */
export function isModel(files: readonly File[]): boolean {
  return files.some(({ name }) => /^(config|tokenizer)\.json$|\.(safetensors|bin|model)$/.test(name));
}

export interface Drops {
  onModel(files: File[]): void;
  onText(text: string): void;
  /** Called if the dropped file is not a model or text, or cannot be read. */
  onRefused(why: string): void;
}

/** Handles drops anywhere on the page while the panel is shown, including folders. */
export function acceptDrops(panel: HTMLElement, drops: Drops): void {
  const isForPanel = (event: DragEvent) => !panel.hidden && event.dataTransfer?.types.includes('Files') === true;
  document.addEventListener('dragover', (event) => {
    if (!isForPanel(event)) return;
    event.preventDefault(); // Without this the browser opens the files.
    panel.classList.add('is-dropping');
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) panel.classList.remove('is-dropping'); // The pointer has left the window.
  });
  document.addEventListener('drop', (event) => {
    panel.classList.remove('is-dropping');
    if (!isForPanel(event)) return;
    event.preventDefault();
    if (!event.dataTransfer) return;
    filesOf(event.dataTransfer).then(
      (files) => take([...files.values()] as File[], drops),
      (error: Error) => drops.onRefused(error.message),
    );
  });
}

async function take(files: File[], { onModel, onText, onRefused }: Drops): Promise<void> {
  const [first] = files;
  if (!first) return;
  if (isModel(files)) {
    onModel(files);
    return;
  }
  const text = await first.text();
  if (text.includes('\0') || text.includes('\ufffd')) onRefused(`\u201c${first.name}\u201d is neither a text nor a model\u2019s file.`);
  else onText(text);
}
