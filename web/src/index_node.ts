import { setRuntime } from './platform/current.js';
import { nodeRuntime } from './platform/platform_node.js';

setRuntime(nodeRuntime);

export * from './face.js';
