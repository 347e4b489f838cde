// Cuts the rows of a batch from output.data, as programs for transformers.js do.
import { pipeline } from 'peruse';

const extractor = await pipeline('feature-extraction', './models/sentences');
const texts = ['Fry the onions in butter.', 'The train to the coast leaves at nine.', 'Serve the soup hot.'];
const output = await extractor(texts, { pooling: 'mean', normalize: true });
const [count, width] = output.dims;
const rows = Array.from({ length: count }, (_, row) => Array.from(output.data.slice(row * width, (row + 1) * width)));

const single = await extractor(texts[1], { pooling: 'mean', normalize: true });
console.log(output.type, count === texts.length, output.data.length === count * width);
console.log(rows.every((row, index) => JSON.stringify(row) === JSON.stringify(output.tolist()[index])));
console.log(Math.max(...rows[1].map((value, index) => Math.abs(value - single.data[index]))) < 1e-6, single.dims[0]);
await extractor.dispose();
