import { pipeline } from 'peruse';

let classify;

export async function GET(request) {
  classify ??= pipeline('text-classification', './public/models/classifier', { worker: true });
  classify.catch(() => {
    classify = undefined;
  });
  const answer = await (await classify)(new URL(request.url).searchParams.get('text'));
  return Response.json(answer);
}
