const kColumns = ['teach', 'contrast', 'logistic', 'tfidf', 'setfit', 'full'];

const meanOf = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
const deviationOf = (list) => Math.sqrt(list.reduce((sum, value) => sum + (value - meanOf(list)) ** 2, 0) / Math.max(1, list.length - 1));

function keysOf(lines, name) {
  return [...new Set(lines.map((line) => line[name]))];
}

function figureOf(lines, method) {
  const own = lines.filter((line) => line.method === method);
  // A draw may have several trainings, whose mean is its accuracy.
  const list = keysOf(own, 'seed').map((seed) => meanOf(own.filter((line) => line.seed === seed).map(({ accuracy }) => 100 * accuracy)));
  return list.length === 0 ? null : { mean: meanOf(list), deviation: deviationOf(list), draws: list.length };
}

/** Prints a table for each base model, and the number of cells in which teach() is near the best method and better than TF-IDF. */
export function printTable(lines) {
  for (const base of keysOf(lines, 'base').sort()) {
    const own = lines.filter((line) => line.base === base);
    const columns = kColumns.filter((method) => own.some((line) => line.method === method));
    console.log(
      `\n${base}\n\n| set | per label | ${columns.join(' | ')} | more than the head | processor seconds |\n|---|---|${'---|'.repeat(columns.length + 2)}`,
    );
    const gaps = [];
    for (const set of keysOf(own, 'set')) {
      for (const count of keysOf(own, 'count').sort((a, b) => a - b)) {
        const all = own.filter((line) => line.set === set && line.count === count);
        const draws = new Set(all.filter(({ method }) => method === 'teach').map(({ seed }) => seed));
        const cell = all.filter(({ seed }) => draws.has(seed)); // Other methods' figures are of the same draws.
        if (cell.length === 0) continue;
        const figures = columns.map((method) => figureOf(cell, method));
        const shown = figures.map((figure) =>
          figure ? `${figure.mean.toFixed(1)} ± ${figure.deviation.toFixed(1)} (${figure.draws})` : '',
        );
        const taught = cell.filter(({ method }) => method === 'teach');
        const more = taught.filter(({ kept }) => kept !== 'head').length;
        const processor = meanOf(taught.map((line) => line.processor)).toFixed(1);
        console.log(`| ${set} | ${count} | ${shown.join(' | ')} | ${more} of ${taught.length} | ${processor} |`);
        const mean = (method) => figures[columns.indexOf(method)]?.mean;
        gaps.push({
          best: Math.max(...figures.map((figure) => figure?.mean ?? 0)) - mean('teach'),
          ahead: mean('teach') - (mean('tfidf') ?? 0),
        });
      }
    }
    const near = gaps.filter(({ best }) => best <= 2).length;
    const ahead = gaps.filter(({ ahead }) => ahead > 0).length;
    console.log(`\nwithin 2 points of the best: ${near} of ${gaps.length} cells; ahead of TF-IDF: ${ahead} of ${gaps.length}`);
  }
}
