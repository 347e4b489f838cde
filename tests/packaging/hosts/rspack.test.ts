// Rspack: a build without a setting that concerns the package.
import { testWebpack } from './webpack_like.js';

testWebpack('rspack', '@rspack/core');
