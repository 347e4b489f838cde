import { testWebpack } from './webpack_like.js';

testWebpack('webpack', 'webpack');
