// Files and folders that are dropped on the page.

/** Calls `onDrop` with the files dropped anywhere while the panel is shown, those of a dropped folder included. */
export function acceptDrops(panel: HTMLElement, onDrop: (files: File[]) => void): void {
  const isForPanel = (event: DragEvent) => !panel.hidden && event.dataTransfer?.types.includes('Files') === true;
  document.addEventListener('dragover', (event) => {
    if (!isForPanel(event)) return;
    event.preventDefault();  // Without this the browser opens the files.
    panel.classList.add('is-dropping');
  });
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) panel.classList.remove('is-dropping');  // Out of the window.
  });
  document.addEventListener('drop', (event) => {
    panel.classList.remove('is-dropping');
    if (!isForPanel(event)) return;
    event.preventDefault();
    // The list is emptied when this listener returns, so its entries are taken before anything is waited for.
    const items = [...(event.dataTransfer?.items ?? [])].filter(({ kind }) => kind === 'file');
    const found = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
    void Promise.all(found.map(filesOf)).then((lists) => {
      const files = lists.flat();
      if (files.length > 0) onDrop(files);
    });
  });
}

/** The file, or the files that lie directly in the folder. */
async function filesOf(entry: FileSystemEntry | File | null): Promise<File[]> {
  if (!entry) return [];
  if (entry instanceof File) return [entry];
  if (!entry.isDirectory) return [await fileOf(entry as FileSystemFileEntry)];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const files: File[] = [];
  for (;;) {
    // A reader gives a hundred entries at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (some.length === 0) return files;
    for (const one of some) if (one.isFile) files.push(await fileOf(one as FileSystemFileEntry));
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((done, fail) => entry.file(done, fail));
}
