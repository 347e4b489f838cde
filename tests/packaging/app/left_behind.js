// An app that uses the package in one of three ways, which the page's address names.
import { env, pipeline } from 'peruse';
import { pipeline as inlinePipeline } from 'peruse/inline';
import { work } from './work.js';

const way = new URLSearchParams(location.search).get('way');
if (way === 'files') env.filesPath = '/peruse/';

globalThis.work = () =>
  work(way === 'inline' ? inlinePipeline : pipeline).catch(({ code, message }) => ({ code, message }));
