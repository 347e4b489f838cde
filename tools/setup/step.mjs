/** Runs `action`, and prints a line with its name, time, and the note that it may return. */
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
