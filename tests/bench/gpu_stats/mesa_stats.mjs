// Reads what Mesa's compilers for NVIDIA's (NAK), Apple's (AGX) and Intel's GPUs (ANV) print about each pipeline (compile.mjs).

/** By kernel, the text between compile.mjs's marks. */
function* texts(output) {
  for (const part of output.split(/^@@@BEGIN /m).slice(1)) {
    const name = part.slice(0, part.indexOf('\n'));
    if (!name.endsWith(' epilogue')) yield [name, part.slice(0, part.indexOf('@@@END'))];
  }
}

function numbers(name, text, pattern) {
  const found = pattern.exec(text);
  if (!found) throw new Error(`${name}: the driver printed no statistics`);
  return found.slice(1).map(Number);
}

/** Registers (32 bits) of a thread, spills to memory, warps on a multiprocessor, instructions. */
export function nakStats(output) {
  const rows = {};
  for (const [name, text] of texts(output)) {
    const stat = (label) => numbers(name, text, new RegExp(`^${label}: (\\d+)`, 'm'))[0];
    rows[name] = {
      registers: stat('Num GPRs'),
      spills: stat('Spills to mem') + stat('Fills from mem'),
      waves: stat('Max warps/SM'),
      instructions: stat('Instruction count'),
    };
  }
  return rows;
}

/** Registers (16 bits) of a thread, spills, SIMD groups on a core, instructions. */
export function agxStats(output) {
  const rows = {};
  const pattern = /CS shader: (\d+) instrs, .* (\d+) gprs, .* (\d+) threads, .* (\d+):(\d+) spills:fills/;
  for (const [name, text] of texts(output)) {
    const [instructions, registers, threads, spills, fills] = numbers(name, text, pattern);
    rows[name] = { registers, spills: spills + fills, waves: threads / 32, instructions };
  }
  return rows;
}

/** Spills, threads that one instruction serves, instructions, and the compiler's estimate of the cycles of a program, in which each loop counts ten rounds. */
export function anvStats(output) {
  const rows = {};
  const pattern = /SIMD(\d+) shader: (\d+) instructions\. .*? (\d+) cycles\. (\d+):(\d+) spills:fills/;
  for (const [name, text] of texts(output)) {
    const [simd, instructions, cycles, spills, fills] = numbers(name, text, pattern);
    rows[name] = { spills: spills + fills, simd, instructions, cycles };
  }
  return rows;
}
