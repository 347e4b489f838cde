// A page's search by meaning: asks before it loads the library, a model of the demo and the index of the guides, and then searches in the page.
const docs = new URL(document.documentElement.dataset.base, location.href);
const kAgreed = 'peruse-search-by-meaning'; // in sessionStorage
const kShown = 8;

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

const about = make('p', {});
const load = make('button', { type: 'button', className: 'load', textContent: 'Load the search' });
const input = make('input', { type: 'text', enterKeyHint: 'search', name: 'query', required: true, placeholder: 'for example: hide names from a chatbot' });
const form = make('form', { hidden: true }, make('label', {}, 'What are you looking for? ', input), make('button', { textContent: 'Search' }));
form.setAttribute('role', 'search');
const state = make('p', {});
state.setAttribute('role', 'status');
const list = make('ol', {});
const close = make('button', { type: 'button', className: 'close', textContent: '×' });
close.setAttribute('aria-label', 'Close');
const heading = make('h2', { id: 'by-meaning-title', textContent: 'Search the guides by meaning' });
const dialog = make('dialog', { id: 'by-meaning' }, close, heading, about, load, form, state, list);
dialog.setAttribute('aria-labelledby', heading.id);
const opener = make('button', { type: 'button', id: 'by-meaning-trigger', className: 'tsd-widget', textContent: 'By meaning' });
opener.setAttribute('aria-label', 'Search by meaning');

let facts; // { model, sections, bytes }
let index;
let searches = 0;

/** A browser may refuse storage; then each page asks again. */
function withStorage(use) {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}

async function describe() {
  if (facts) return;
  const response = await fetch(new URL('assets/meaning.json', docs));
  if (!response.ok) throw new Error(`The search can’t be loaded (status ${response.status}).`);
  facts = await response.json();
  const kilobytes = Math.ceil(facts.bytes / 1000).toLocaleString('en');
  about.textContent =
    `Compares your words with ${facts.sections} sections of the guides, by meaning and by keywords, with Peruse’s SemanticIndex. ` +
    'Everything is computed in this page; what you type stays here.';
  load.textContent = `Load the search (${kilobytes} KB)`;
}

async function open() {
  state.textContent = 'Loading …';
  const { pipeline, SemanticIndex } = await import(new URL('../peruse/peruse.js', docs));
  const [embed, response] = await Promise.all([
    pipeline('feature-extraction', new URL(`../${facts.model}`, docs).href),
    fetch(new URL('assets/meaning.bin', docs)),
  ]);
  if (!response.ok) throw new Error(`The index can’t be loaded (status ${response.status}).`);
  const opened = await SemanticIndex.load(embed, await response.blob());
  withStorage((storage) => storage.setItem(kAgreed, 'yes'));
  return opened;
}

async function start() {
  load.hidden = true;
  try {
    index ??= open();
    await index;
    state.textContent = '';
    form.hidden = false;
    input.focus();
  } catch (error) {
    index = undefined;
    load.hidden = false;
    throw error;
  }
}

/** One hit for each section, the best first. */
function bySection(hits) {
  return hits.filter(({ id }, at) => hits.findIndex((hit) => hit.id === id) === at);
}

const excerpt = (text) => /^[\s\S]{0,200}(?!\S)/.exec(text.trim())?.[0] ?? text.slice(0, 200);

async function search() {
  const number = ++searches;
  const hits = bySection(await (await index).search(input.value, { top_k: 3 * kShown, keywords: true })).slice(0, kShown);
  if (number !== searches) return; // a newer search shows its own hits
  state.textContent = `${hits.length} sections`;
  list.replaceChildren(
    ...hits.map(({ id, text, start, metadata: { page, title } }) => {
      const words = title === page ? page : `${page}: ${title}`;
      const shown = start === 0 ? text.slice(words.length) : text;
      return make('li', {}, make('a', { href: new URL(id, docs).href, textContent: words }), make('p', { textContent: excerpt(shown) }));
    }),
  );
}

function showing(work) {
  return (event) => {
    event.preventDefault();
    work().catch((error) => {
      state.textContent = error.message;
    });
  };
}

opener.addEventListener(
  'click',
  showing(async () => {
    dialog.showModal();
    await describe();
    if (withStorage((storage) => storage.getItem(kAgreed))) await start();
  }),
);
load.addEventListener('click', showing(start));
form.addEventListener('submit', showing(search));
close.addEventListener('click', () => dialog.close());
list.addEventListener('click', () => dialog.close());
dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
document.querySelector('#tsd-search-trigger').before(opener);
document.body.append(dialog);
