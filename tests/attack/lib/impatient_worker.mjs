// Entry of a worker with other time limits (patience.mjs).
import { begin } from './patience.mjs';

await begin();
