// The package's face in service workers, where import() is not allowed: the builds that run on one thread are imported beforehand.
import relaxed from '../wasm/peruse-relaxed.mjs';
import simd from '../wasm/peruse-simd.mjs';
import { provideModule } from './engine/wasm_modules.js';

provideModule('relaxed', relaxed);
provideModule('simd', simd);

export * from './index.js';
