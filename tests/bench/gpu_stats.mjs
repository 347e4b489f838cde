#!/usr/bin/env node
// Statistics of the compiled GPU kernels, such as registers and clocks, without a GPU: npm run gpu:stats -- [--write]
// Mesa's driver RADV compiles the kernels for AMD's RDNA2 and RDNA3 (tools/setup/mesa.mjs). Prints a row per kernel and chip. Fails if a value is
// worse than in gpu_stats/expected.json; --write replaces that file.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { run } from '../../tools/setup/exec.mjs';
import { radvEnvironment } from '../../tools/setup/mesa.mjs';
import { kernelStats } from './gpu_stats/aco.mjs';

const kChips = { navi21: 'RDNA2', navi31: 'RDNA3' };
const kExpected = fileURLToPath(new URL('gpu_stats/expected.json', import.meta.url));
const kCompile = fileURLToPath(new URL('gpu_stats/compile.mjs', import.meta.url));

const kColumns = ['registers', 'spills', 'waves', 'local', 'throughput', 'math', 'vector', 'ahead', 'clocks', 'share'];
/** The columns that are compared. True means that a higher value is better. */
const kBetter = { registers: false, spills: false, waves: true, local: false, throughput: false, ahead: true, clocks: false };

function statsOf(chip) {
  const print = { ACO_DEBUG: 'perfinfo', RADV_DEBUG: 'shaders,shaderstats,nocache' };
  const env = { ...process.env, ...radvEnvironment(chip), ...print };
  const folder = mkdtempSync(join(tmpdir(), 'peruse-gpu-stats-'));
  try {
    // A file, because Node does not wait for a full pipe.
    const file = join(folder, 'output.txt');
    const output = openSync(file, 'w');
    run(process.execPath, [kCompile], { env, stdio: ['ignore', output, output] });
    closeSync(output);
    return kernelStats(readFileSync(file, 'utf8'), chip);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function printTable(rows) {
  const lines = [['kernel', ...kColumns], ...rows.map(([name, row]) => [name, ...kColumns.map((column) => `${row[column] ?? ''}`)])];
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  for (const line of lines) console.log(line.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join('  '));
}

function findings(rows, expected) {
  const names = [...new Set([...Object.keys(rows), ...Object.keys(expected)])];
  return names.flatMap((name) => {
    if (!rows[name] || !expected[name]) return [`${name}: only in ${rows[name] ? 'this run' : 'expected.json'}; see --write`];
    return Object.entries(kBetter).flatMap(([column, more]) => {
      const [now, before] = [rows[name][column], expected[name][column]];
      const worse = now !== before && (now === undefined || before === undefined || now < before === more);
      return worse ? [`${name}: ${column} ${now}, expected ${before}`] : [];
    });
  });
}

const { values } = parseArgs({ options: { write: { type: 'boolean' } } });
const stats = {};
for (const [chip, architecture] of Object.entries(kChips)) {
  stats[chip] = statsOf(chip);
  console.log(`\n${chip} (${architecture})`);
  printTable(Object.entries(stats[chip]));
}
if (values.write) writeFileSync(kExpected, `${JSON.stringify(stats, null, 1)}\n`);
const expected = JSON.parse(readFileSync(kExpected, 'utf8'));
const worse = Object.keys(kChips).flatMap((chip) => findings(stats[chip], expected[chip] ?? {}).map((text) => `${chip} ${text}`));
for (const text of worse) console.error(text);
process.exitCode = worse.length ? 1 : 0;
