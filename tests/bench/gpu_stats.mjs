#!/usr/bin/env node
// Statistics of the compiled GPU kernels, such as registers and clocks, without a GPU: npm run gpu:stats -- [--write]
// Mesa's drivers compile the kernels for simulated GPUs (tools/setup/mesa.mjs, mesa_backports.mjs). Prints a row per kernel and GPU. Fails if a
// value is worse than in gpu_stats/expected.json; --write replaces that file.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { run } from '../../tools/setup/exec.mjs';
import { radvEnvironment } from '../../tools/setup/mesa.mjs';
import { mesaOfBackports, nodeWith } from '../../tools/setup/mesa_backports.mjs';
import { kernelStats } from './gpu_stats/aco.mjs';
import { intelEnvironment } from './gpu_stats/intel.mjs';
import { agxStats, anvStats, nakStats } from './gpu_stats/mesa_stats.mjs';

const kPrintsAco = { ACO_DEBUG: 'perfinfo', RADV_DEBUG: 'shaders,shaderstats,nocache' };

function radv(chip) {
  return { command: [process.execPath], env: { ...radvEnvironment(chip), ...kPrintsAco }, read: (output) => kernelStats(output, chip) };
}

function anv(chip) {
  return { command: [process.execPath], env: { ...intelEnvironment(chip), INTEL_DEBUG: 'cs' }, read: anvStats };
}

/** Undefined if Debian no longer has this compiler. */
function ofBackports(driver, print, read) {
  try {
    const { command, env } = nodeWith(driver, mesaOfBackports());
    return { command, env: { ...env, ...print }, read };
  } catch (error) {
    console.error(`\nnot compared, because the compiler is missing: ${error.message}`);
    return undefined;
  }
}

/** By chip: its architecture, and a function that returns Node's command with the chip's driver, and the reader of what the driver prints. */
const kChips = {
  navi21: ['AMD RDNA2', () => radv('navi21')],
  navi31: ['AMD RDNA3', () => radv('navi31')],
  adl: ['Intel Xe-LP', () => anv('adl')],
  dg2: ['Intel Xe-HPG', () => anv('dg2')],
  bmg: ['Intel Xe2-HPG', () => anv('bmg')],
  ga104: ['NVIDIA Ampere', () => ofBackports('nouveau', { NOUVEAU_CHIPSET: '0x174', NAK_DEBUG: 'print' }, nakStats)],
  m1: ['Apple M1', () => ofBackports('asahi', { AGX_MESA_DEBUG: 'shaders,shaderdb' }, agxStats)],
};
const kExpected = fileURLToPath(new URL('gpu_stats/expected.json', import.meta.url));
const kCompile = fileURLToPath(new URL('gpu_stats/compile.mjs', import.meta.url));

const kColumns = [
  'registers',
  'spills',
  'waves',
  'simd',
  'local',
  'instructions',
  'throughput',
  'math',
  'vector',
  'ahead',
  'clocks',
  'cycles',
  'share',
  'full',
  'epilogue',
];
const kLess = ['registers', 'spills', 'local', 'instructions', 'throughput', 'clocks', 'cycles', 'epilogue'];
/** The columns that are compared. True means that a higher value is better. */
const kBetter = { waves: true, simd: true, ahead: true, full: true, ...Object.fromEntries(kLess.map((column) => [column, false])) };

function statsOf({ command: [command, ...options], env, read }) {
  const folder = mkdtempSync(join(tmpdir(), 'peruse-gpu-stats-'));
  try {
    // A file, because Node does not wait for a full pipe.
    const file = join(folder, 'output.txt');
    const output = openSync(file, 'w');
    run(command, [...options, kCompile], { env: { ...process.env, ...env }, stdio: ['ignore', output, output] });
    closeSync(output);
    return read(readFileSync(file, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function printTable(rows) {
  const columns = kColumns.filter((column) => rows.some(([, row]) => row[column] !== undefined));
  const lines = [['kernel', ...columns], ...rows.map(([name, row]) => [name, ...columns.map((column) => `${row[column] ?? ''}`)])];
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
const expected = JSON.parse(readFileSync(kExpected, 'utf8'));
const stats = {};
for (const [chip, [architecture, driverOf]] of Object.entries(kChips)) {
  console.log(`\n${chip} (${architecture})`);
  const driver = driverOf();
  if (!driver) continue;
  stats[chip] = statsOf(driver);
  printTable(Object.entries(stats[chip]));
}
if (values.write) writeFileSync(kExpected, `${JSON.stringify({ ...expected, ...stats }, null, 1)}\n`);
const worse = Object.keys(stats).flatMap((chip) =>
  findings(stats[chip], (values.write ? stats : expected)[chip] ?? {}).map((text) => `${chip} ${text}`),
);
for (const text of worse) console.error(text);
process.exitCode = worse.length ? 1 : 0;
