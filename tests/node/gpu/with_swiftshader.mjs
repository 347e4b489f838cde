#!/usr/bin/env node
// Runs a command with SwiftShader as the GPU: node with_swiftshader.mjs <command> [arguments]
// PERUSE_GPU=own leaves the machine's own adapter in place.
import { spawnSync } from 'node:child_process';
import { swiftShaderEnvironment } from './gpu_device.mjs';

const [command, ...options] = process.argv.slice(2);
const env = process.env.PERUSE_GPU === 'own' ? process.env : { ...process.env, ...swiftShaderEnvironment() };
const { status, error } = spawnSync(command, options, { stdio: 'inherit', env });
if (error) throw error;
process.exitCode = status ?? 1;
