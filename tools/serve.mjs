#!/usr/bin/env node
// Serves any folder: node tools/serve.mjs [folder] [port] [--no-isolation]. The TypeScript must have been built.
import { serveFolders } from '../web/dist/cli/static_server.js';
import { runAsProgram } from './setup/main_module.mjs';

await runAsProgram(import.meta.url, async () => {
  const words = process.argv.slice(2);
  const [folder = 'build/site', port = '8000'] = words.filter((word) => !word.startsWith('--'));
  const { url } = await serveFolders({ '/': folder }, { port: Number(port), isolated: !words.includes('--no-isolation') });
  console.log(`Serving ${folder} at ${url}`);
});
