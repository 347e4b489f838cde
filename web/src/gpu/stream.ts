// Reads the command stream of core/backend/webgpu/command_stream.h.

export type Command =
  | { kind: 'shader'; id: number; text: string }
  | { kind: 'pipeline'; id: number; shader: number; constants: Record<string, number> }
  | { kind: 'buffer'; id: number; bytes: number }
  | { kind: 'free'; id: number }
  /** `bytes` are in the engine's memory, and valid until the engine runs again. */
  | { kind: 'write'; id: number; offset: number; bytes: Uint8Array }
  | { kind: 'dispatch'; dispatch: Dispatch }
  | { kind: 'download'; id: number; bytes: number; address: number }
  | { kind: 'submit' }
  | { kind: 'begin' };

export interface Dispatch {
  pipeline: number;
  grid: [number, number, number];
  /** A copy of the parameters. */
  parameters: Uint32Array;
  buffers: number[];
}

export interface StreamSpan {
  address: number;
  words: number;
}

/** Yields the commands in order. `memory` is called again for each, because growing replaces it. Throws an Error for an invalid stream. */
export function* readCommands(memory: () => Uint8Array, span: StreamSpan): Generator<Command> {
  for (let at = 0; at < span.words; ) {
    const heap = memory();
    const words = new Uint32Array(heap.buffer, heap.byteOffset + span.address, span.words);
    const length = words[at + 1] ?? 0;
    if (length < 2 || at + length > span.words) throw new Error(`GPU commands: a record of ${length} words at ${at}`);
    yield readCommand(words.subarray(at, at + length));
    at += length;
  }
}

function readCommand(record: Uint32Array): Command {
  const word = (index: number): number => {
    const value = record[index];
    if (value === undefined) throw new Error(`GPU commands: record ${record[0]} is too short`);
    return value;
  };
  const bytesAt = (index: number, count: number): Uint8Array => {
    if (index * 4 + count > record.byteLength) throw new Error(`GPU commands: record ${record[0]} is too short`);
    return new Uint8Array(record.buffer, record.byteOffset + index * 4, count);
  };
  // TextDecoder rejects shared memory, so this copies the bytes.
  const textAt = (index: number, count: number): string => new TextDecoder().decode(bytesAt(index, count).slice());

  switch (word(0)) {
    case 1:
      return { kind: 'shader', id: word(2), text: textAt(4, word(3)) };
    case 2: {
      const constants: Record<string, number> = {};
      let at = 5;
      for (let i = 0; i < word(4); i++) {
        const name = textAt(at + 1, word(at));
        at += 1 + Math.ceil(word(at) / 4);
        word(at);
        constants[name] = new Float32Array(record.buffer, record.byteOffset + at * 4, 1)[0] ?? 0;
        at += 1;
      }
      return { kind: 'pipeline', id: word(2), shader: word(3), constants };
    }
    case 3:
      return { kind: 'buffer', id: word(2), bytes: word(3) };
    case 4:
      return { kind: 'free', id: word(2) };
    case 5:
      return { kind: 'write', id: word(2), offset: word(3), bytes: bytesAt(5, word(4)) };
    case 6: {
      const count = word(6);
      const buffers = 7 + count;
      return {
        kind: 'dispatch',
        dispatch: {
          pipeline: word(2),
          grid: [word(3), word(4), word(5)],
          parameters: record.slice(7, buffers),
          buffers: Array.from({ length: word(buffers) }, (_, i) => word(buffers + 1 + i)),
        },
      };
    }
    case 7:
      return { kind: 'download', id: word(2), bytes: word(3), address: word(4) };
    case 8:
      return { kind: 'submit' };
    case 9:
      return { kind: 'begin' };
    default:
      throw new Error(`GPU commands: there is no opcode ${record[0]}`);
  }
}
