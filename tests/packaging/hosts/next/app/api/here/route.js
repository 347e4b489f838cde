// Runs the model in the server's thread, from a folder outside of the app.
import { pipeline } from 'peruse';

export async function GET(request) {
  const { searchParams } = new URL(request.url);
  const classify = await pipeline('text-classification', searchParams.get('model'), { worker: false });
  const answer = await classify(searchParams.get('text'));
  await classify.dispose();
  return Response.json(answer);
}
