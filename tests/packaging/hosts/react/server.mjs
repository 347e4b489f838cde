// Renders the component as a server does: nothing is loaded.
import { createRequire } from 'node:module';
import { usePipeline } from 'peruse/react';
import { createElement } from 'react';

const { renderToString } = createRequire(import.meta.url)('react-dom/server'); // a folder in React 17

const Shown = ({ model }) => createElement('p', null, JSON.stringify(usePipeline('text-classification', model)));
console.log(renderToString(createElement(Shown, { model: './missing' })));
console.log(renderToString(createElement(Shown, { model: null })));
