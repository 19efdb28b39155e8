import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const SERVER = process.env.STAGI_DEV_SERVER ?? 'http://localhost:4400';

export default defineConfig(({ isSsrBuild }) => ({
  root: import.meta.dirname,
  plugins: [react(), configuration()],
  // The theme needs no transformation: plain CSS, nesting lowered by Vite itself.
  css: { postcss: { plugins: [] } },
  build: {
    outDir: 'dist',
    manifest: !isSsrBuild,
    copyPublicDir: !isSsrBuild,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2022',
    rolldownOptions: isSsrBuild
      ? {}
      : {
          output: {
            codeSplitting: {
              groups: [
                { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler|react-router)[\\/]/, priority: 2 },
              ],
            },
          },
        },
  },
  ssr: { noExternal: true },
  server: {
    port: 4410,
    proxy: {
      '/frontend-api': { target: SERVER, ws: true },
      '/daemon-api': { target: SERVER, ws: true },
      '/dev': SERVER,
      '/configuration.json': SERVER,
    },
  },
}));

/** Gives the page of the development server the configuration that the real server writes into it. */
function configuration(): Plugin {
  return {
    name: 'configuration',
    apply: 'serve',
    async transformIndexHtml(html) {
      const answer = await fetch(`${SERVER}/configuration.json`).then(
        (response) => response.text(),
        () => '{}',
      );
      return html.replace(
        'type="application/json">{}<',
        () => `type="application/json">${answer.replaceAll('<', '\\u003c')}<`,
      );
    },
  };
}
