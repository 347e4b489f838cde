// TypeDoc plugin: the order, titles and sections of the guides, links to the previous and the next one and to the demo page, and the names of entries.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Converter, JSX, KindRouter, ParameterType } from 'typedoc';
import { entryNames } from '../docs.mjs';
import { addressOf, sectionsOf } from './sections.mjs';

const kRoot = fileURLToPath(new URL('../..', import.meta.url));

function titleOf(path) {
  const text = readFileSync(join(kRoot, path), 'utf8').replace(/^---\n[\s\S]*?\n---\n/, '');
  return /^# (.*)/m.exec(text)?.[1].replaceAll('`', '') ?? path;
}

const kPaths = new Map(); // paths from the root, by document

/** How much more a guide counts in the search than a name of the reference: a guide's text is long, which makes each of its words count less. */
const kBoost = 10;

class PageRouter extends KindRouter {
  getIdealBaseName(reflection) {
    const path = kPaths.get(reflection);
    return path === undefined ? super.getIdealBaseName(reflection) : addressOf(path);
  }
}

export function load(app) {
  app.renderer.defineRouter('pages', PageRouter);
  app.options.addDeclaration({ name: 'demo', help: 'The relative address of the demo page, if there is one', type: ParameterType.String });
  app.options.addDeclaration({ name: 'meaning', help: 'Adds the search by meaning (meaning.js)', type: ParameterType.Boolean });
  const pages = new Map(); // by document, in the order of reading
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    const names = entryNames();
    for (const module of project.children ?? []) module.name = names.get(project.files.getReflectionPath(module)) ?? module.name;
    const documents = new Map();
    for (const document of project.documents ?? []) {
      const file = project.files.getReflectionPath(document);
      if (file) documents.set(relative(kRoot, file).replaceAll('\\', '/'), document);
    }
    for (const [section, files] of sectionsOf(documents.keys())) {
      for (const path of files) {
        const document = documents.get(path);
        document.name = titleOf(path);
        document.frontmatter.group = section;
        document.relevanceBoost = path.startsWith('docs/internals/') ? 1 : kBoost;
        kPaths.set(document, path);
        pages.set(document, document.name);
      }
    }
    project.documents = [...pages.keys()];
    const others = (project.childrenIncludingDocuments ?? []).filter((child) => !pages.has(child));
    project.childrenIncludingDocuments = [...project.documents, ...others]; // the order of the navigation
  });
  app.renderer.hooks.on('content.end', ({ page, urlTo }) => {
    const order = [...pages.keys()];
    const at = order.indexOf(page.model);
    if (at < 0) return JSX.createElement(JSX.Fragment, null);
    const link = (to, rel, arrow) =>
      to && JSX.createElement('a', { href: urlTo(to), rel }, arrow === '←' ? `← ${to.name}` : `${to.name} →`);
    return JSX.createElement(
      'nav',
      { class: 'around', 'aria-label': 'Previous and next page' },
      link(order[at - 1], 'prev', '←') ?? JSX.createElement('span', null),
      link(order[at + 1], 'next', '→') ?? JSX.createElement('span', null),
    );
  });
  app.renderer.hooks.on('body.end', (context) => {
    if (!app.options.getValue('meaning')) return JSX.createElement(JSX.Fragment, null);
    return JSX.createElement('script', { type: 'module', src: context.relativeURL('assets/meaning.js', true) });
  });
  app.renderer.hooks.on('sidebar.begin', ({ page }) => {
    const demo = app.options.getValue('demo');
    if (!demo) return JSX.createElement(JSX.Fragment, null);
    const address = '../'.repeat(page.url.split('/').length - 1) + demo;
    return JSX.createElement('p', { class: 'demo' }, JSX.createElement('a', { href: address }, 'The demo page'));
  });
}
