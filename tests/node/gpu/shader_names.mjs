// The names of the WebGPU backend's shaders, and which of them a device compiles.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const kFolder = fileURLToPath(new URL('../../../core/backend/webgpu/', import.meta.url));

/** A .wgsl file as cmake/shaders.cmake embeds it. */
function embedded(file) {
  const text = readFileSync(kFolder + file, 'utf8').replaceAll(/#include "([a-z_]+\.wgsl)"/g, (_, included) => embedded(included));
  return text.replaceAll(/[ \t]*\/\/[^\n]*/g, '').replaceAll(/\n[ \t\n]+/g, '\n');
}

export function shaders() {
  const files = readdirSync(kFolder).filter((file) => file.endsWith('.wgsl'));
  const included = files.flatMap((file) =>
    [...readFileSync(kFolder + file, 'utf8').matchAll(/#include "([a-z_]+\.wgsl)"/g)].map(([, name]) => name),
  );
  return new Map(files.filter((file) => !included.includes(file)).map((file) => [embedded(file), file.replace(/\.wgsl$/, '')]));
}

export function watchShaders(device) {
  const names = [...shaders()];
  const compiled = new Set();
  const create = device.createShaderModule.bind(device);
  device.createShaderModule = (descriptor) => {
    const found = names.find(([text]) => descriptor.code.endsWith(text)); // definitions may precede it
    compiled.add(found ? found[1] : 'unknown');
    return create(descriptor);
  };
  return compiled;
}
