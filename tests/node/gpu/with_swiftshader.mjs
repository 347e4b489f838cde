#!/usr/bin/env node
// Runs a command with SwiftShader as the GPU (with PERUSE_GPU=own, the machine's): node with_swiftshader.mjs <command> [arguments]
import { spawnSync } from 'node:child_process';
import { swiftShaderEnvironment } from './gpu_device.mjs';

const [command, ...options] = process.argv.slice(2);
const env = process.env.PERUSE_GPU === 'own' ? process.env : { ...process.env, ...swiftShaderEnvironment() };
const { status, error } = spawnSync(command, options, { stdio: 'inherit', env });
if (error) throw error;
process.exitCode = status ?? 1;
