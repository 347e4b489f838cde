// What a visitor may choose besides the text: the model (files of one's own in place of the demo model) and the device.
import type { PipelineOptions, Source } from '../peruse/dist/index.js';
import { find } from './dom.js';

export interface Settings {
  source: Source;
  device: NonNullable<PipelineOptions['device']>;
}

/** Calls `onChange` whenever the visitor has chosen something else. Returns the settings to begin with. */
export function startSettings(panel: HTMLElement, demoModel: string, onChange: (settings: Settings) => void): Settings {
  const box = find(panel, '.settings', HTMLDetailsElement);
  const input = find(box, '[type=file]', HTMLInputElement);
  const chosen = find(box, '.chosen', HTMLElement);
  const back = find(box, '.back', HTMLButtonElement);
  const device = find(box, '[name=device]', HTMLSelectElement);
  let files: File[] | undefined;

  const current = () => ({ source: files ?? demoModel, device: device.value }) as Settings;
  const choose = (newFiles: File[] | undefined) => {
    files = newFiles;
    chosen.textContent = `In use: ${files ? files.map((file) => file.name).join(', ') : 'the demo model'}.`;
    back.hidden = files === undefined;
    onChange(current());
  };
  device.addEventListener('change', () => onChange(current()));
  input.addEventListener('change', () => {
    if (input.files?.length) choose([...input.files]);
  });
  back.addEventListener('click', () => {
    input.value = '';
    choose(undefined);
    input.focus();  // The button that had the focus is gone.
  });
  acceptDrops(panel, (dropped) => {
    box.open = true;
    choose(dropped);
  });
  return current();
}

function acceptDrops(panel: HTMLElement, onDrop: (files: File[]) => void): void {
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
  panel.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();  // Without this the browser opens the files.
    panel.classList.add('is-dropping');
  });
  panel.addEventListener('dragleave', () => panel.classList.remove('is-dropping'));
  panel.addEventListener('drop', (event) => {
    panel.classList.remove('is-dropping');
    if (!hasFiles(event)) return;
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length > 0) onDrop(files);
  });
}
