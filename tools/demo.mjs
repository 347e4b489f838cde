#!/usr/bin/env node
// Builds what the demo page needs first, and serves it: node tools/demo.mjs [port]. demo_rest.mjs builds the rest in the background; requests
// for files that are still being built wait.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { buildLibrary } from './build.mjs';
import { docsFolder } from './docs.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';
import { buildSite, storedModels } from './site.mjs';
import { kFirstVariants } from './variants.mjs';

const kNice = 10; // low priority for the rest

async function buildRest() {
  const child = spawn(process.execPath, [fileURLToPath(new URL('demo_rest.mjs', import.meta.url))], { stdio: 'inherit' });
  process.on('exit', () => child.kill());
  setPriority(child.pid, kNice);
  const [code] = await once(child, 'exit');
  return code === 0;
}

await runAsProgram(import.meta.url, async () => {
  await setup();
  await buildLibrary(kFirstVariants);
  let site;
  await step('demo page', async () => {
    site = await buildSite({ variants: kFirstVariants, models: storedModels, pages: { docs: 'link' } });
  });
  const { serveFolders } = await import('../web/dist/cli/static_server.js'); // has just been built
  const rest = buildRest();
  const later = { below: ['/peruse/', '/docs/'], until: rest };
  const { url } = await serveFolders({ '/': site, '/docs/': docsFolder }, { port: Number(process.argv[2] ?? 8000), later });
  console.log(`
The demo is at ${url} (Ctrl-C ends it). Meanwhile the rest is built: for teaching, the GPU, Safari and one
thread, the 8-bit models, and the documentation. A page that asks for it waits, or says so; load it again then.
`);
  const all = (await rest) ? `, the documentation at ${url}docs/` : ', without the rest, which could not be built';
  console.log(`\nThe demo is at ${url}${all} (Ctrl-C ends it)`);
});
