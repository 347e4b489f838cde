// Reads RADV's output for each pipeline (compile.mjs): statistics, and ACO's listing with a clock for every instruction.

/** A multiply-add instruction of one lane, or of two or four. */
const kMath = /^v_(fma|fmac|fmaak|fmamk|fma_mix)_f32$|^v_dot4/;

/** Names of the vector registers' unit and what else an instruction is, from a line such as `v1: %5:v[1] = v_fma_f32 ...`. */
function operationOf(text) {
  if (/= v_fma_mix_f32 .*, 1\.0, neg\(0\)$/.test(text)) return 'v_cvt_f32_f16';
  const found = /(?:^|= )\(?\S*?\)?((?:v|s|ds|buffer|global|scratch)_[a-z0-9_]+)/.exec(text);
  return found ? found[1] : text.split(' ')[0];
}

function blocksOf(listing) {
  const blocks = [];
  for (const line of listing.split('\n')) {
    const start = /^BB(\d+)/.exec(line);
    if (start) blocks.push({ id: Number(start[1]), instructions: [] });
    const timed = /^\s*\(\s*(\d+) clk\)\s+(.*)$/.exec(line);
    if (!timed || blocks.length === 0) continue;
    const [, clocks, text] = timed;
    blocks.at(-1).instructions.push({ clocks: Number(clocks), operation: operationOf(text), text });
  }
  return blocks;
}

/** The [first, last] indices of the loops' blocks. */
function loopsOf(blocks) {
  const index = new Map(blocks.map(({ id }, i) => [id, i]));
  const ends = new Map();
  blocks.forEach((block, i) => {
    for (const { text } of block.instructions) {
      const target = index.get(Number(/block:BB(\d+)/.exec(text)?.[1]));
      if (target !== undefined && target <= i) ends.set(target, i);
    }
  });
  return [...ends];
}

function innerLoops(blocks) {
  const loops = loopsOf(blocks);
  const holds = ([from, to]) => loops.some(([first, last]) => first >= from && last <= to && !(first === from && last === to));
  return loops.filter((loop) => !holds(loop)).map(([from, to]) => blocks.slice(from, to + 1).flatMap(({ instructions }) => instructions));
}

const kMemoryClocks = 320; // of a load from memory in ACO's model

/**
 * The clocks of a round after the first. ACO counts the first one, which waits for the loads before the loop; later ones wait for what the
 * round before loaded, while it multiplied.
 */
function clocksOfRound(loop) {
  const ready = [];
  let now = 0;
  let start = 0;
  for (let round = 0; round < 2; round++) {
    start = now;
    for (const { clocks, operation, text } of loop) {
      const left = /^s_waitcnt/.test(operation) ? /vmcnt\((\d+)\)/.exec(text) : undefined;
      const waited = left ? ready.splice(0, Math.max(ready.length - Number(left[1]), 0)) : [];
      now = left ? Math.max(now + 1, ...waited) : now + clocks;
      if (/^(buffer|global)_load/.test(operation)) ready.push(now + kMemoryClocks);
    }
  }
  return now - start;
}

/** For each load in a loop: the number of multiply-adds until an instruction waits for it, possibly in the next round. */
function mathBeforeWaits(loop) {
  const waiting = [];
  const distances = [];
  let math = 0;
  for (const round of [0, 1]) {
    for (const { operation, text } of loop) {
      if (kMath.test(operation)) ++math;
      if (/^(buffer|global)_load/.test(operation)) waiting.push({ at: math, round });
      const left = /^s_waitcnt/.test(operation) ? /vmcnt\((\d+)\)/.exec(text) : undefined;
      while (left && waiting.length > Number(left[1])) {
        const load = waiting.shift();
        if (load.round === 0) distances.push(math - load.at);
      }
    }
  }
  return distances;
}

/** Bytes that a lane reads from or writes to workgroup memory. */
function localBytes(operation) {
  const found = /^ds_(?:read|load|write|store)(2)?.*_b(32|64|96|128)$/.exec(operation);
  return found ? (Number(found[2]) / 8) * (found[1] ? 2 : 1) : 0;
}

function describe(loop) {
  const count = (wanted) => loop.filter(({ operation }) => wanted.test(operation)).length;
  return {
    math: count(kMath),
    dots: count(/^v_dot4/),
    vector: count(/^v_/),
    local: loop.reduce((sum, { operation }) => sum + localBytes(operation), 0),
    reads: count(/^ds_(read|load)/) + count(/^(buffer|global)_load/) > 0 && count(/^(buffer|global)_store/) === 0,
    clocks: clocksOfRound(loop),
    ahead: mathBeforeWaits(loop),
  };
}

/** The clocks from the end of the last loop to the end of the kernel, which does not wait for its stores. */
function epilogueOf(blocks) {
  const end = Math.max(...loopsOf(blocks).map(([, last]) => last));
  const instructions = blocks.slice(end + 1).flatMap((block) => block.instructions);
  return instructions.reduce((sum, { clocks, operation }) => sum + (operation === 's_endpgm' ? 0 : clocks), 0);
}

/** Returns the least clocks of the multiply-adds of 64 lanes: one each for floats on RDNA3, two for dot4 and on other chips. */
function leastClocks({ math, dots }, isRdna3) {
  return isRdna3 ? math + dots : 2 * math;
}

/**
 * Returns the clocks of a SIMD for one round of a wave of 64 lanes, if enough other waves hide every wait: those of the vector unit, two for each
 * instruction that is not counted in `leastClocks`, or those of the workgroup memory, which moves 128 bytes a clock for two SIMDs.
 */
function busyClocks(loop, isRdna3) {
  return Math.max(leastClocks(loop, isRdna3) + 2 * (loop.vector - loop.math), loop.local);
}

/**
 * Returns for each kernel: vector registers, spills, waves (of 64 lanes, per SIMD) and bytes of local memory; for its loops that multiply tiles:
 * multiply-adds, all vector instructions, the fewest multiply-adds between a load and the wait for it (undefined without loads), the clocks of one
 * wave in ACO's model, `share`, the multiply-adds' least clocks as a percentage of those, and `full`, the same with endless waves. For products,
 * `epilogue` is the clocks after the loop.
 */
export function kernelStats(output, chip) {
  const isRdna3 = /^navi3/.test(chip);
  const rows = {};
  for (const part of output.split(/^@@@BEGIN /m).slice(1)) {
    const text = part.slice(0, part.indexOf('@@@END'));
    const name = text.slice(0, text.indexOf('\n'));
    const stat = (label) => {
      const found = new RegExp(`^${label}: (\\d+)`, 'm').exec(text);
      if (!found) throw new Error(`${name}: the driver printed no "${label}"`);
      return Number(found[1]);
    };
    const listings = text.slice(0, text.indexOf('\nnum_waves:'));
    const blocks = blocksOf(listings.slice(listings.lastIndexOf('ACO shader stage')));
    if (name.endsWith(' epilogue')) {
      rows[name.replace(/ epilogue$/, '')].epilogue = epilogueOf(blocks);
      continue;
    }
    const loops = innerLoops(blocks)
      .map(describe)
      .filter(({ math, reads }) => reads && math >= 32);
    const sum = (value) => loops.reduce((total, loop) => total + value(loop), 0);
    const ahead = loops.flatMap((loop) => loop.ahead);
    rows[name] = {
      registers: stat('VGPRs'),
      spills: stat('Spilled VGPRs') + stat('Spilled SGPRs'),
      waves: Math.floor(stat('Subgroups per SIMD') / 2),
      local: stat('LDS size'),
      throughput: stat('Inverse Throughput'),
    };
    if (loops.length === 0) continue;
    const least = sum((loop) => leastClocks(loop, isRdna3));
    Object.assign(rows[name], {
      math: sum(({ math }) => math),
      vector: sum(({ vector }) => vector),
      ahead: ahead.length ? Math.min(...ahead) : undefined,
      clocks: sum(({ clocks }) => clocks),
      share: Math.round((100 * least) / sum(({ clocks }) => clocks)),
      full: Math.round((100 * least) / sum((loop) => busyClocks(loop, isRdna3))),
    });
  }
  return rows;
}
