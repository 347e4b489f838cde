// A link to the contents of a tab's form, stored in the address's fragment, which browsers do not send to servers.

type Field = HTMLInputElement | HTMLTextAreaElement;

function fieldsOf(panel: HTMLElement): Field[] {
  return [...panel.querySelectorAll<Field>('.fields textarea, .fields input')];
}

/** Returns the address of a panel with the contents of its form: `#classify?text=...`. `instead` overrides values of the form. */
export function linkTo(panel: HTMLElement, instead: Readonly<Record<string, string>> = {}): string {
  const values = new URLSearchParams();
  for (const field of fieldsOf(panel)) {
    if (field.type !== 'checkbox') values.set(field.name, instead[field.name] ?? field.value);
    else if ((field as HTMLInputElement).checked) values.set(field.name, '1');
  }
  const url = new URL(location.href);
  url.hash = `${panel.id}?${values}`;
  return url.href;
}

export function panelInAddress(): string {
  return location.hash.slice(1).split('?')[0] ?? '';
}

let filledFrom = '';

/** Fills the form from the address, once for each address, because the back button may return to it after edits. Returns whether it did. */
export function fillFromAddress(panel: HTMLElement): boolean {
  const [id, query] = location.hash.slice(1).split('?');
  if (id !== panel.id || !query || location.hash === filledFrom) return false;
  filledFrom = location.hash;
  const values = new URLSearchParams(query);
  for (const field of fieldsOf(panel)) {
    const value = values.get(field.name);
    if (field.type === 'checkbox') (field as HTMLInputElement).checked = value === '1';
    else if (value !== null) field.value = value;
  }
  return true;
}
