import '../index_node.js';
import '../index_tokenizer_node.js';

export * from './face.js';
