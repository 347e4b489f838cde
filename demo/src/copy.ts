// Buttons that copy something.

/** Copies what `text` gives, and says so: beside the button, or in its own words for a moment. */
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
