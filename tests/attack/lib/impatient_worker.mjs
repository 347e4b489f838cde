// How a worker starts whose waits are others (patience.mjs).
import { begin } from './patience.mjs';

await begin();
