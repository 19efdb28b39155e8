import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const SERVER = process.env.STAGI_DEV_SERVER ?? 'http://localhost:4400';

export default defineConfig(({ isSsrBuild }) => ({
  root: import.meta.dirname,
  plugins: [react(), configuration(), namesOfCalls(), pureSchemas()],
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

/**
 * Gives every file but `src/api/schemas.ts` the table of calls without its schemas: what a page sends is named by its
 * path, and the schemas with their library are a sixth of what a first page may weigh.
 */
function namesOfCalls(): Plugin {
  const TABLE = '@stagi/contract/api.ts';
  const NAMES = '\0names-of-calls';
  return {
    name: 'names-of-calls',
    enforce: 'pre',
    resolveId: (id, importer) => (id === TABLE && !importer?.endsWith('/src/api/schemas.ts') ? NAMES : null),
    async load(id) {
      if (id !== NAMES) return null;
      const { api } = (await import(TABLE)) as { api: Record<string, Record<string, { path: string }>> };
      const names = Object.entries(api).map(([domain, calls]) => [
        domain,
        Object.fromEntries(Object.entries(calls).map(([name, { path }]) => [name, { path }])),
      ]);
      return `export const api = ${JSON.stringify(Object.fromEntries(names))};`;
    },
  };
}

/** Tells the bundler that a schema of the contract which nobody asks for can be left out: making one does nothing else. */
function pureSchemas(): Plugin {
  return {
    name: 'pure-schemas',
    apply: 'build',
    enforce: 'post',
    transform(code, id) {
      if (!id.includes('/contract/src/')) return null;
      let marked = code;
      for (const statement of this.parse(code).body.toReversed()) {
        const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
        if (declared?.type !== 'VariableDeclaration') continue;
        for (const { init } of declared.declarations.toReversed()) {
          if (init?.type !== 'CallExpression') continue;
          const made = marked.slice(init.start, init.end);
          marked = `${marked.slice(0, init.start)}/* @__PURE__ */ (() => ${made})()${marked.slice(init.end)}`;
        }
      }
      return { code: marked, map: null };
    },
  };
}
