#!/usr/bin/env node
// Runs a command with lavapipe, Mesa's software driver, as the GPU: node with_lavapipe.mjs <command> [arguments]
import { spawnSync } from 'node:child_process';
import { mesaEnvironment } from '../../../tools/setup/mesa.mjs';

const [command, ...options] = process.argv.slice(2);
const env = { ...process.env, ...mesaEnvironment('lvp'), LP_NUM_THREADS: '1' };
const { status, error } = spawnSync(command, options, { stdio: 'inherit', env });
if (error) throw error;
process.exitCode = status ?? 1;
