// Tabs according to the ARIA Authoring Practices: one tab stop, arrow keys, Home and End. The address contains the chosen tab, and the back button returns to the previous one.
import { panelInAddress } from './link.js';

/** `onShow` is called for the first panel and after each change. */
export function startTabs(tablist: HTMLElement, onShow: (panel: string) => void): void {
  const tabs = [...tablist.querySelectorAll<HTMLElement>('[role=tab]')];
  const panelOf = (tab: HTMLElement) => tab.getAttribute('aria-controls') ?? '';

  function select(chosen: HTMLElement): void {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      document.getElementById(panelOf(tab))?.toggleAttribute('hidden', !isChosen);
    }
    onShow(panelOf(chosen));
  }

  const named = () => tabs.find((tab) => panelOf(tab) === panelInAddress());

  for (const [index, tab] of tabs.entries()) {
    const targets: Record<string, number> = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: -1 };
    tab.addEventListener('click', () => {
      if (tab.getAttribute('aria-selected') !== 'true') history.pushState(null, '', `#${panelOf(tab)}`);
      select(tab);
    });
    tab.addEventListener('keydown', (event) => {
      const target = targets[event.key];
      if (target === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const next = tabs.at(target % tabs.length);
      if (!next) return;
      next.focus();
      select(next);
      history.replaceState(null, '', `#${panelOf(next)}`); // A press of an arrow key is no step back.
    });
  }
  const selectNamed = () => {
    const tab = named() ?? tabs[0];
    if (tab) select(tab);
  };
  addEventListener('hashchange', selectNamed); // Also after the back button.
  selectNamed();
}
