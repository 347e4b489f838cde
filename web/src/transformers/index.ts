import '../index.js';
import { readTokenizersInHosts } from './tokenizer_files.js';

readTokenizersInHosts();

export * from './face.js';
