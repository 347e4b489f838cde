import { pipeline } from 'peruse';

let classify;

export async function GET(request) {
  const { searchParams } = new URL(request.url);
  const options = { worker: searchParams.get('worker') === 'true' };
  classify ??= pipeline('text-classification', searchParams.get('model'), options).catch((error) => {
    classify = undefined;
    throw error;
  });
  const run = await classify;
  return Response.json({ labels: await run(searchParams.get('text')), info: run.info });
}
