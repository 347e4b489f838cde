// The package's face in Node.
import { setPlatform } from './platform.js';
import { nodePlatform } from './platform_node.js';

setPlatform(nodePlatform);

export * from './index.js';
