// Builds the parts that every tab has, from a template in the page, around the tab's own fields and details.
import { find } from './dom.js';

export function buildFrame(panel: HTMLElement): void {
  const frame = find(document, '#frame', HTMLTemplateElement).content.cloneNode(true) as DocumentFragment;
  const fields = find(panel, '.fields', HTMLElement);
  const details = find(panel, '.details', HTMLElement);
  details.hidden = true;
  find(frame, '[name=fields]', HTMLSlotElement).replaceWith(fields);
  find(frame, '[name=details]', HTMLSlotElement).replaceWith(details);
  find(frame, '[name=vault]', HTMLSlotElement).replaceWith(...panel.querySelectorAll('.vault'));
  find(frame, '[name=honest]', HTMLSlotElement).replaceWith(find(panel, '.honest', HTMLElement));
  find(frame, '[type=submit]', HTMLButtonElement).textContent = panel.dataset.verb ?? '';
  find(frame, '.headline', HTMLElement).textContent = panel.dataset.placeholder ?? '';
  const error = find(frame, '.error', HTMLElement);
  error.id = `${panel.id}-error`;
  for (const field of fields.querySelectorAll('textarea, input')) field.setAttribute('aria-describedby', error.id);
  const examples = find(frame, '.examples', HTMLElement);
  const label = find(examples, 'span', HTMLElement);
  label.id = `${panel.id}-examples`;
  examples.setAttribute('aria-labelledby', label.id);
  const curated = find(frame, '.curated', HTMLElement);
  const hub = find(curated, 'span', HTMLElement);
  hub.id = `${panel.id}-curated`;
  curated.setAttribute('aria-labelledby', hub.id);
  panel.append(frame);
}
