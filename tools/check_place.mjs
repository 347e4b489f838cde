#!/usr/bin/env node
// Names the line of a failed check: node tools/check_place.mjs 123456789
// A release of the engine prints "check 123456789 failed" (CheckPlace in core/base/status.h). Use the sources of that release.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';

export function placeOf(file, line) {
  let hash = 0;
  for (const letter of Buffer.from(basename(file))) hash = (Math.imul(hash, 31) + letter) >>> 0;
  return (hash % 100000) * 10000 + (line % 10000);
}

/** All lines with a check whose number is `place`, for example 'core/base/status.h:75'. */
export function linesOf(place) {
  const files = ['core', 'bindings'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => /\.(cc|h)$/.test(name))
      .map((name) => join(folder, name)),
  );
  return files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((text, i) => (/PERUSE_CHECK\(|RAPIDJSON_ASSERT/.test(text) && placeOf(file, i + 1) === place ? [`${file}:${i + 1}`] : [])),
  );
}

runAsProgram(import.meta.url, () => {
  const lines = linesOf(Number(process.argv[2]));
  console.log(lines.join('\n') || 'No check has this number.');
});
