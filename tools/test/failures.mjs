// Repeats failures at the end of a run, because continuous integration often keeps only the last lines.
const kShown = 20;
const kLines = 12;
const kLastLines = 30;

/**
 * Returns failed tests with the first lines of their messages. `results` are { name, tests, failed, error, output } of each suite. If a suite
 * failed without a failed test, returns the last lines of its output.
 */
export function failures(results) {
  return results.filter(({ failed }) => failed > 0).flatMap(failuresOf);
}

function failuresOf({ name, tests, error, output = '' }) {
  if (error) return [`FAILED ${name}`, ...indented(error.split('\n').slice(0, kLines))];
  const failed = tests.filter(({ failure }) => failure !== undefined);
  if (failed.length === 0) return [`FAILED ${name}`, ...indented(output.trimEnd().split('\n').slice(-kLastLines))];
  const lines = failed.slice(0, kShown).flatMap((test) => [`FAILED ${name}: ${test.name}`, ...indented(beginning(test.failure))]);
  return failed.length > kShown ? [...lines, `FAILED ${name}: ${failed.length - kShown} more`] : lines;
}

function beginning(message) {
  const lines = message.split('\n').filter((line) => !line.includes('/node_modules/@vitest/'));
  return lines.slice(0, kLines);
}

function indented(lines) {
  return lines.map((line) => `    ${line.slice(0, 300)}`);
}
