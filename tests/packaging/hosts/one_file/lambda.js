// A handler as AWS Lambda calls it. The model is loaded once for each instance, from the folder of the archive.
import { join } from 'node:path';
import { pipeline } from 'peruse';

let loading;

export async function handler({ text }) {
  loading ??= pipeline('text-classification', join(__dirname, 'model'), { worker: false, threads: 1 }).catch((error) => {
    loading = undefined;
    throw error;
  });
  const classify = await loading;
  return { statusCode: 200, body: JSON.stringify(await classify(text)) };
}
