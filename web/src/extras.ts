// Members of pipelines that load on use (web/bundle/peruse-extras.js in pages).
export { explain } from './explain/explain.js';
export { describeBlank, describeCuts } from './tasks/describe_cuts.js';
export { streamOf } from './tasks/stream.js';
