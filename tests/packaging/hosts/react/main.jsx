import { env } from 'peruse';
import { StrictMode } from 'react';
import { mount } from './mount.js';
import { Sentiment } from './sentiment.jsx';

env.filesPath = '/peruse/';
const render = mount(document.querySelector('#app'));
globalThis.show = (properties) =>
  render(<StrictMode>{properties === null ? <p id="state">nothing</p> : <Sentiment {...properties} />}</StrictMode>);
