import { testWebpack } from './webpack_like.js';

testWebpack('rspack', '@rspack/core');
