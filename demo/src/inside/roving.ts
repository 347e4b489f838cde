// Arrow keys, Home and End move the focus within a group of buttons, which has one tab stop.

export function rove(group: HTMLElement, buttons: readonly HTMLButtonElement[]): void {
  const makeStop = (stop: HTMLButtonElement) => {
    for (const button of buttons) button.tabIndex = button === stop ? 0 : -1;
  };
  if (buttons[0]) makeStop(buttons[0]);
  group.addEventListener('focusin', ({ target }) => makeStop(target as HTMLButtonElement));
  group.addEventListener('keydown', (event) => {
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const targets: Record<string, number> = {
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      Home: 0,
      End: buttons.length - 1,
    };
    const target = targets[event.key];
    if (target === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    buttons[Math.max(0, Math.min(buttons.length - 1, target))]?.focus();
  });
}
