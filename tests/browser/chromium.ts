export const kChromiumPath = process.env.PERUSE_CHROMIUM ?? '/usr/bin/chromium';

/** No sandbox: the tests run as root in containers. The rest keeps the browser from asking anybody anything. */
export const kChromiumFlags = [
  '--headless=new',
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // WebGPU on SwiftShader, the software GPU that Chromium carries.
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
];
