// One line per step: what it does and how long it took.

/** Runs `action` (sync or async) as a named step. `action` may return a note that is printed with the time. */
export async function step(name, action) {
  const start = performance.now();
  process.stdout.write(`${name} ... `);
  try {
    const note = await action();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    process.stdout.write(`${note ?? 'done'} (${seconds} s)\n`);
  } catch (error) {
    process.stdout.write('FAILED\n');
    throw error;
  }
}
