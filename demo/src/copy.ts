/** Copies `text()` on a click, and shows for a moment in `said` that it did. */
export function copyOnClick(button: HTMLButtonElement, text: () => string, said: HTMLElement = button): void {
  const words = said.textContent;
  button.addEventListener('click', () => {
    const say = (what: string) => {
      said.textContent = what;
      setTimeout(() => (said.textContent = words), 2000);
    };
    navigator.clipboard.writeText(text()).then(
      () => say('Copied'),
      () => say('This browser does not allow it'),
    );
  });
}
