// Subscribes to the store of the guide as components do.
import { get } from 'svelte/store';
import { pipelineStore } from './pipeline_store.mjs';

const until = (store, holds) =>
  new Promise((resolve) => {
    let stop;
    const note = (value) => holds(value) && queueMicrotask(() => resolve([value, stop]));
    stop = store.subscribe(note);
  });

const store = pipelineStore('text-classification', './public/models/classifier', { worker: true });
const [{ pipeline }, stop] = await until(store, (value) => value.pipeline);
const [{ label }] = await pipeline('t1 t2');
const shared = get(store).pipeline === pipeline;
stop();
await new Promise((resolve) => setTimeout(resolve, 500));
const code = await pipeline('t1 t2').catch((error) => error.code);
const [{ error }, stopMissing] = await until(pipelineStore('text-classification', './missing'), (value) => value.error);
stopMissing();
console.log(JSON.stringify({ label, shared, code, missing: error.code }));
