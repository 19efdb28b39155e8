import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const SERVER = process.env.STAGI_DEV_SERVER ?? 'http://localhost:4400';

/** What every page needs, and what the forms of visitors need beside it: one file each packs better than fifty. */
const EVERYWHERE =
  /node_modules[\\/](i18next|@tanstack[\\/](query-core|react-query)|@mantine[\\/]core[\\/]esm[\\/]core)[\\/]/;
const first = {
  everywhere: new Set<string>(),
  signing: new Set<string>(),
  confirming: new Set<string>(),
  signedIn: new Set<string>(),
};
/** The library's parts that only screens of signed-in people show, with what they stand on. */
const SIGNED_IN =
  /node_modules[\\/](@floating-ui|react-remove-scroll|react-remove-scroll-bar|use-sidecar|use-callback-ref|react-style-singleton|@mantine[\\/]core[\\/]esm[\\/]components[\\/](Popover|Menu|Combobox|ScrollArea|ModalBase|Modal|Drawer|Portal|FocusTrap|Overlay|Pagination|Checkbox|Avatar|Burger|Tooltip|Floating))[\\/]/;

export default defineConfig(({ isSsrBuild }) => ({
  root: import.meta.dirname,
  plugins: [react(), configuration(), namesOfCalls(), steadyIds(), pureSchemas(), firstPages()],
  // The theme needs no transformation: plain CSS, nesting lowered by Vite itself.
  css: { postcss: { plugins: [] } },
  build: {
    outDir: 'dist',
    manifest: !isSsrBuild,
    copyPublicDir: !isSsrBuild,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: {
      polyfill: false,
      // What every page has fetched already is not named again for each that may come.
      resolveDependencies: (_file, files, { hostType }) =>
        hostType === 'js' ? files.filter((file) => !/\/(base|confirm|react|rolldown-runtime)-/.test(file)) : files,
    },
    target: 'es2022',
    rolldownOptions: isSsrBuild
      ? {}
      : {
          output: {
            // A first page carries the names of all others: what a packer can do nothing about is kept short.
            chunkFileNames: 'assets/[name]-[hash:7].js',
            assetFileNames: 'assets/[name]-[hash:7][extname]',
            codeSplitting: {
              groups: [
                { name: 'base', test: (id) => first.everywhere.has(id) || EVERYWHERE.test(id), priority: 1 },
                { name: 'sign', test: (id) => first.signing.has(id), priority: 1 },
                // Before the next, which would take what it stands on along.
                { name: 'confirm', test: (id) => first.confirming.has(id), priority: 2 },
                { name: 'app', test: (id) => first.signedIn.has(id) || SIGNED_IN.test(id), priority: 1 },
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
      const { api } = (await import(TABLE)) as { api: Record<string, Record<string, { path: string; auth: unknown }>> };
      // Of who may make a call a browser only asks whether that is everybody: those have a mark behind their path.
      const names = Object.entries(api).map(([domain, calls]) =>
        [
          domain,
          ...Object.entries(calls).flatMap(([name, { path, auth }]) => [name, path + (auth === 'public' ? '!' : '')]),
        ].join(' '),
      );
      return `export const api = {};
        for (const line of ${JSON.stringify(names.join('\n'))}.split('\\n')) {
          const [domain, ...words] = line.split(' ');
          const calls = (api[domain] = {});
          while (words.length) {
            const name = words.shift();
            const [path, open] = words.shift().split('!');
            calls[name] = open === undefined ? { path } : { path, auth: 'public' };
          }
        }`;
    },
  };
}

/**
 * Lets the library's controls keep the id that React gives them. By itself each gives up that id for a random one right
 * after it was drawn, in case a page has several roots, and so everything that has an id is drawn twice.
 */
function steadyIds(): Plugin {
  return {
    name: 'steady-ids',
    enforce: 'pre',
    load(id) {
      if (!id.endsWith('@mantine/hooks/esm/use-id/use-id.mjs')) return null;
      return `import { useId as useReactId } from 'react';
        export function useId(given) {
          const id = useReactId();
          return typeof given === 'string' ? given : \`mantine-\${id}\`;
        }`;
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

/** Finds the modules of `first` once the graph is known: what is imported outright, never what is fetched later. */
function firstPages(): Plugin {
  return {
    name: 'first-pages',
    apply: 'build',
    buildEnd() {
      const reach = (end: string, known: Set<string>) => {
        const start = [...this.getModuleIds()].find((id) => id.endsWith(end));
        const ahead = start ? [start] : [];
        const found = new Set<string>();
        for (let id = ahead.pop(); id !== undefined; id = ahead.pop()) {
          if (found.has(id) || known.has(id)) continue;
          found.add(id);
          // Of libraries only what their barrels are asked for counts, which the bundler finds by itself.
          ahead.push(...(this.getModuleInfo(id)?.importedIds ?? []).filter((next) => !next.includes('node_modules')));
        }
        return found;
      };
      first.everywhere = reach('/src/main.tsx', new Set());
      first.signing = reach('/src/features/auth/SignInPage.tsx', first.everywhere);
      // What the pages of visitors share with it stays out, so that they need not fetch it.
      const visitors = new Set([...first.everywhere, ...first.signing]);
      for (const page of ['home/HomePage', 'auth/SignUpPage'])
        for (const id of reach(`/src/features/${page}.tsx`, visitors)) visitors.add(id);
      first.confirming = reach('/src/features/auth/ConfirmationPage.tsx', visitors);
      for (const id of first.confirming) visitors.add(id);
      for (const page of ['layouts/AppLayout', 'layouts/header/SignedInArea', 'features/instances/InstancesPage'])
        for (const id of reach(`/src/${page}.tsx`, visitors)) first.signedIn.add(id);
      // It waits for its page, and the page for the file it imports from: that must not be the same.
      for (const id of first.everywhere) if (id.endsWith('/src/main.tsx')) first.everywhere.delete(id);
    },
  };
}
