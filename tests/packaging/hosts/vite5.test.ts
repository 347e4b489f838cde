import { testVite } from './vite.js';

testVite('vite5');
