// The package's face in service workers and wherever else no worker can be started and nothing imported later: all in one file.
import { alonePlatform } from './platform/alone.js';
import { setPlatform } from './platform/current.js';

setPlatform(alonePlatform);

export * from './face.js';
