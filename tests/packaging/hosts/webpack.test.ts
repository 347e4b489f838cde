// webpack: a build without a setting that concerns the package.
import { testWebpack } from './webpack_like.js';

testWebpack('webpack', 'webpack');
