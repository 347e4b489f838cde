/** Returns the one element in `root` that matches. Throws if no element matches: the page and its script are always published together. */
export function find<E extends Element>(root: ParentNode, selector: string, type: new () => E): E {
  const element = root.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`the page has no ${selector}`);
  return element;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

export function makeButton(content: (Node | string)[], onClick: () => void): HTMLButtonElement {
  const button = make('button', '', ...content);
  button.type = 'button';
  button.addEventListener('click', onClick);
  return button;
}

/** For text of the visitor's, which may be in a script that is written from right to left. */
export function withDirection<E extends HTMLElement>(element: E): E {
  element.dir = 'auto';
  return element;
}

/** Lets the keyboard scroll those results below `root` that are longer than their limit of height. */
export function letScroll(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>('.limited')) {
    if (element.scrollHeight > element.clientHeight) element.tabIndex = 0;
    else element.removeAttribute('tabindex');
  }
}

const kLeastSeen = 240; // Pixels of an element that must be visible.

/** Scrolls to the element unless its start is on the screen. */
export function bringIntoView(element: HTMLElement): void {
  const { top } = element.getBoundingClientRect();
  if (top >= 0 && top < innerHeight - kLeastSeen) return;
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  element.scrollIntoView({ block: 'start', behavior: isCalm ? 'auto' : 'smooth' });
}
