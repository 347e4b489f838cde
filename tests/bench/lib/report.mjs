// The report as text. Percentages of the peak are medians of ratios, not quotients of medians.
import { median } from './statistics.mjs';

function table(rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  const isText = rows[0].map((_, i) => rows.slice(1).every((row) => !/^[\d.<]/.test(row[i]) || /[a-z]{3}/.test(row[i])));
  return rows
    .map((row) =>
      row
        .map((cell, i) => (isText[i] ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const percent = (share) => (share === undefined ? '' : `${(100 * share).toFixed(0)}%`);
const times = (ratio) => (ratio === undefined ? '' : ratio.toFixed(2));
const quartiles = (pair) => (pair === undefined ? '' : pair.map(times).join(' to '));
const megabytes = (bytes) => (bytes / 1e6).toFixed(0);

/** The machine's limits (engine/peak_loops.h). The last two are there only where q8 multiplies bytes. */
const kPeaks = [
  { kind: 'float', title: 'of f32 peak' },
  { kind: 'integer', title: 'of int16 peak' },
  { kind: 'byte', title: 'of byte peak' },
  { kind: 'loadedByte', title: 'with loads' },
];

export function printCells(cells) {
  const peers = [...new Set(cells.flatMap(({ over = {} }) => Object.keys(over)))];
  for (const runtime of new Set(cells.map((cell) => cell.runtime))) {
    for (const shape of new Set(cells.map((cell) => cell.shape))) {
      const rows = cells
        .filter((cell) => cell.runtime === runtime && cell.shape === shape)
        .map((cell) => [
          cell.length,
          cell.library,
          cell.variant ?? '',
          cell.dtype,
          String(cell.threads),
          cell.milliseconds.toFixed(1),
          cell.tokensPerSecond.toFixed(0),
          cell.gigaflops?.toFixed(1) ?? '',
          ...kPeaks.map(({ kind }) => percent(cell.shares[kind])),
          ...peers.flatMap((peer) => [times(cell.over?.[peer]), quartiles(cell.overQuartiles?.[peer])]),
          times(cell.overBefore),
          times(cell.overF32),
          quartiles(cell.overF32Quartiles),
          times(cell.overOneThread),
          quartiles(cell.overOneThreadQuartiles),
          cell.error?.toExponential(1) ?? '',
          String(cell.rounds),
        ]);
      if (rows.length === 0) continue;
      console.log(`\n${shape}, ${runtime}`);
      console.log(
        table([
          [
            'tokens',
            'library',
            'build',
            'dtype',
            'threads',
            'ms',
            'tokens/s',
            'Gop/s',
            ...kPeaks.map(({ title }) => title),
            ...peers.flatMap((peer) => [`x ${peer}`, 'quartiles']),
            'x before',
            'x own f32',
            'quartiles',
            'x 1 thread',
            'quartiles',
            'error',
            'rounds',
          ],
          ...rows,
        ]),
      );
    }
  }
}

export function printLoads(loads) {
  if (loads.length === 0) return;
  console.log('\nLoading, full size, one thread');
  console.log(
    table([
      ['shape', 'dtype', 'download MB', 'weights MB', 'engine s', 'heap MB', 'peak heap MB'],
      ...loads.map((load) => [
        load.shape,
        load.dtype,
        megabytes(load.downloadBytes),
        megabytes(load.weightBytes),
        load.seconds.toFixed(2),
        megabytes(load.loadedBytes),
        megabytes(load.peakBytes),
      ]),
    ]),
  );
}

export function printFirstAnswers(rows) {
  console.log('\nFrom the file to the first answer, one thread');
  console.log(
    table([
      ['', 'shape', 'file', 'MB', 'dtype', 'weights MB', 'heap MB', 'seconds', "onnxruntime-web's file", 'MB', 'seconds', 'x ort'],
      ...rows.map((row) => [
        row.runtime,
        row.shape,
        row.file,
        megabytes(row.fileBytes),
        row.dtype,
        megabytes(row.weightBytes),
        megabytes(row.heapBytes),
        row.seconds.toFixed(2),
        row.ort.file,
        megabytes(row.ort.fileBytes),
        row.ort.seconds.toFixed(2),
        times(row.overOrt),
      ]),
    ]),
  );
}

export function printProfile(cells) {
  for (const cell of cells.filter(({ profile }) => profile)) {
    const { seconds, operations } = cell.profile;
    console.log(
      `\n${cell.shape}, ${cell.runtime} ${cell.variant} ${cell.dtype}, ${cell.threads} thread(s), ${cell.length} tokens: ${(seconds * 1000).toFixed(1)} ms`,
    );
    const sorted = [...operations].sort((a, b) => b.seconds - a.seconds);
    console.log(
      table([
        ['operation', 'calls', 'share', 'Gop/s'],
        ...sorted.map(({ operation, calls, flops, seconds: own }) => [
          operation,
          String(calls),
          `${((100 * own) / seconds).toFixed(1)}%`,
          flops > 0 ? (flops / own / 1e9).toFixed(1) : '',
        ]),
        [
          '(between operations)',
          '',
          `${(100 * (1 - operations.reduce((sum, { seconds: own }) => sum + own, 0) / seconds)).toFixed(1)}%`,
          '',
        ],
      ]),
    );
  }
}

const kBars = [
  { name: 'f32 over onnxruntime-web f32', least: 2.0, of: (cell) => (cell.dtype === 'f32' ? cell.over.ort : undefined) },
  { name: 'q8 over onnxruntime-web q8', least: 1.4, of: (cell) => (cell.dtype === 'q8' ? cell.over.ort : undefined) },
  { name: 'q8 over own f32', least: 1.35, of: (cell) => (cell.dtype === 'q8' ? cell.overF32 : undefined) },
  { name: 'threads over one thread', least: 1.8, of: (cell) => (cell.dtype === 'f32' ? cell.overOneThread : undefined) },
  {
    name: 'f32 of the registers-only peak (bar: base models, 128 tokens, one thread)',
    least: 0.75,
    of: (cell) => (cell.dtype === 'f32' ? cell.shares.float : undefined),
    binds: (cell) => cell.shape.endsWith('_base') && cell.length === '128' && cell.threads === 1,
  },
];

export function printBars(cells) {
  const ours = cells.filter(({ library }) => library === 'peruse');
  const columns = [...new Set(ours.map((cell) => `${cell.length} x${cell.threads}`))];
  for (const { name, least, of, binds = () => true } of kBars) {
    const values = ours.map((cell) => ({ cell, value: of(cell) })).filter(({ value }) => value !== undefined);
    if (values.length === 0) continue;
    const rows = [...new Set(ours.map(({ shape }) => shape))].map((shape) => [
      shape,
      ...columns.map((column) => {
        const hit = values.find(({ cell }) => cell.shape === shape && `${cell.length} x${cell.threads}` === column);
        if (!hit) return '';
        return hit.value.toFixed(2) + (binds(hit.cell) && hit.value < least ? ' <' : '  ');
      }),
    ]);
    const binding = values.filter(({ cell }) => binds(cell));
    const met = binding.filter(({ value }) => value >= least).length;
    console.log(
      `\n${name}: at least ${least.toFixed(2)}; ${met} of ${binding.length} met, median ${median(binding.map(({ value }) => value)).toFixed(2)}`,
    );
    console.log(table([['tokens x threads', ...columns], ...rows]));
  }
}
