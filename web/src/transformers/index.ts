import '../index.js';
import '../index_tokenizer.js';

export * from './face.js';
