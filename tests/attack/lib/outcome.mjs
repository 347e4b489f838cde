// Checks the outcome of a call: finite numbers, or a PeruseError other than 'internal'.

const kOurFaults = ['internal', 'worker_died'];

/** Returns 'ok' or the error's code. Throws Finding for any other outcome. */
export async function outcome(promise, { allow = [] } = {}) {
  let result;
  try {
    result = await promise;
  } catch (error) {
    checkError(error, allow);
    return error.code;
  }
  checkNumbers(result, 'result');
  return 'ok';
}

export class Finding extends Error {}

function checkError(error, allow) {
  if (error instanceof Finding) throw error;
  if (!['PeruseError', 'AbortError'].includes(error?.name) || typeof error.code !== 'string') {
    throw new Finding(`untyped error: ${String(error?.stack ?? error)}`);
  }
  if (kOurFaults.includes(error.code) && !allow.includes(error.code))
    throw new Finding(`${error.code}: ${error.message}`, { cause: error });
  if (!error.message || error.message.length > 1003) throw new Finding(`a message of ${error.message.length} characters`);
}

function checkNumbers(value, where) {
  if (where.includes('diagonal_concentration')) return; // infinite for short texts
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Finding(`${where} is ${value}`);
  if (value === null && /score/.test(where)) throw new Finding(`${where} is null`);
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) checkNumbers(item, `${where}[${i}]`);
  } else if (value instanceof Float32Array) {
    if (!value.every(Number.isFinite)) throw new Finding(`${where} holds a number that is none`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) checkNumbers(item, `${where}.${name}`);
  }
}
