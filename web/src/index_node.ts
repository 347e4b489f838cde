import { setPlatform } from './platform/current.js';
import { nodePlatform } from './platform/platform_node.js';

setPlatform(nodePlatform);

export * from './face.js';
