// Tabs after the ARIA authoring practices: one tab stop, arrow keys, Home and End; the address remembers the tab.

export function startTabs(tablist: HTMLElement): void {
  const tabs = [...tablist.querySelectorAll<HTMLElement>('[role=tab]')];
  const panelOf = (tab: HTMLElement) => tab.getAttribute('aria-controls') ?? '';

  function select(chosen: HTMLElement): void {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      document.getElementById(panelOf(tab))?.toggleAttribute('hidden', !isChosen);
    }
  }

  function selectFromAddress(): void {
    const tab = tabs.find((candidate) => `#${panelOf(candidate)}` === location.hash);
    if (tab) select(tab);
  }

  for (const [index, tab] of tabs.entries()) {
    const targets: Record<string, number> = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: -1 };
    tab.addEventListener('click', () => {
      select(tab);
      history.replaceState(null, '', `#${panelOf(tab)}`);
    });
    tab.addEventListener('keydown', (event) => {
      const target = targets[event.key];
      if (target === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const next = tabs.at(target % tabs.length);
      next?.focus();
      next?.click();
    });
  }
  addEventListener('hashchange', selectFromAddress);
  selectFromAddress();
}
