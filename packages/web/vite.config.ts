import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const SERVER = process.env.STAGI_DEV_SERVER ?? 'http://localhost:4400';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // The theme needs no transformation: plain CSS, nesting lowered by Vite itself.
  css: { postcss: { plugins: [] } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2022',
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler|react-router)[\\/]/, priority: 2 },
          ],
        },
      },
    },
  },
  server: {
    port: 4410,
    proxy: {
      '/frontend-api': { target: SERVER, ws: true },
      '/daemon-api': { target: SERVER, ws: true },
      '/dev': SERVER,
    },
  },
});
