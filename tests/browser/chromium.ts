export const kChromiumPath = process.env.PERUSE_CHROMIUM ?? '/usr/bin/chromium';

/** Without sandbox, because tests run as root in containers. The others prevent requests by the browser itself. */
export const kChromiumFlags = [
  '--headless=new',
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // WebGPU on SwiftShader, Chromium's software GPU.
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
];
