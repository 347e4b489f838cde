// A checkpoint of the visitor's own, in place of the demo model: files chosen, or dropped on the tab.
import { find } from './dom.js';

/** Calls `onChoice` with the files, or with undefined when the visitor goes back to the demo model. */
export function startOwnModel(panel: HTMLElement, onChoice: (files: File[] | undefined) => void): void {
  const box = find(panel, '.own-model', HTMLDetailsElement);
  const input = find(box, 'input', HTMLInputElement);
  const chosen = find(box, '.chosen', HTMLElement);
  const back = find(box, '.bundled', HTMLButtonElement);

  const choose = (files: File[] | undefined) => {
    chosen.textContent = `In use: ${files ? files.map((file) => file.name).join(', ') : 'the demo model'}.`;
    back.hidden = files === undefined;
    onChoice(files);
  };
  input.addEventListener('change', () => {
    if (input.files?.length) choose([...input.files]);
  });
  back.addEventListener('click', () => {
    input.value = '';
    choose(undefined);
    find(box, 'summary', HTMLElement).focus();  // The button that had the focus is gone.
  });

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
    if (files.length === 0) return;
    box.open = true;
    choose(files);
  });
}
