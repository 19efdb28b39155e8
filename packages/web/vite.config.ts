import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const SERVER = process.env.STAGI_DEV_SERVER ?? 'http://localhost:4400';

/**
 * Modules that every page needs, and those of the forms for visitors. A file for each group compresses better than
 * fifty small ones.
 */
const EVERYWHERE =
  /node_modules[\\/](i18next|@tanstack[\\/](query-core|react-query)|@mantine[\\/]core[\\/]esm[\\/]core)[\\/]/;
const first = {
  everywhere: new Set<string>(),
  signing: new Set<string>(),
  confirming: new Set<string>(),
  showing: new Set<string>(),
  listing: new Set<string>(),
  contract: new Set<string>(),
  signedIn: new Set<string>(),
};
/** The parts of the component library that only signed-in pages use, with their dependencies. */
const SIGNED_IN =
  /node_modules[\\/](@floating-ui|react-remove-scroll|react-remove-scroll-bar|use-sidecar|use-callback-ref|react-style-singleton|@mantine[\\/]core[\\/]esm[\\/]components[\\/](Popover|Menu|Combobox|ScrollArea|ModalBase|Modal|Drawer|Portal|FocusTrap|Overlay|Pagination|Checkbox|Avatar|Burger|Tooltip|Floating))[\\/]/;

export default defineConfig(({ isSsrBuild }) => ({
  root: import.meta.dirname,
  plugins: [react(), configuration(), demoPage(), namesOfCalls(), steadyIds(), pureSchemas(), firstPages()],
  resolve: {
    alias: {
      // In a worker there is no document, which its form for browsers asks for the characters.
      'decode-named-character-reference': fileURLToPath(import.meta.resolve('decode-named-character-reference')),
    },
  },
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
      // Files that every page has loaded already are left out of the preload lists.
      resolveDependencies: (_file, files, { hostType }) =>
        hostType === 'js' ? files.filter((file) => !/\/(base|confirm|react|rolldown-runtime)-/.test(file)) : files,
    },
    target: 'es2022',
    rolldownOptions: isSsrBuild
      ? {}
      : {
          // The demo has an entry of its own: pages of the app carry none of it.
          input: [join(import.meta.dirname, 'index.html'), join(import.meta.dirname, 'src/demoMain.tsx')],
          output: {
            // The first page contains the file names of all others. Hashes do not compress, so they are short.
            chunkFileNames: 'assets/[name]-[hash:7].js',
            assetFileNames: 'assets/[name]-[hash:7][extname]',
            codeSplitting: {
              // Each takes the modules that its own depend on along, unless a group of a higher priority has them.
              groups: [
                { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler|react-router)[\\/]/, priority: 7 },
                { name: 'base', test: (id) => first.everywhere.has(id) || EVERYWHERE.test(id), priority: 6 },
                { name: 'sign', test: (id) => first.signing.has(id), priority: 5 },
                { name: 'confirm', test: (id) => first.confirming.has(id), priority: 4 },
                { name: 'facts', test: (id) => first.showing.has(id), priority: 3 },
                { name: 'list', test: (id) => first.listing.has(id), priority: 2 },
                { name: 'contract', test: (id) => first.contract.has(id), priority: 2 },
                { name: 'app', test: (id) => first.signedIn.has(id) || SIGNED_IN.test(id), priority: 1 },
              ],
            },
          },
        },
  },
  worker: {
    // Its parts, such as the grammars of the code's colours, are fetched one by one; no page lists their file names.
    format: 'es',
    rolldownOptions: {
      output: { chunkFileNames: 'assets/[name]-[hash:7].js', entryFileNames: 'assets/[name]-[hash:7].js' },
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

/** The page of the demo on the development server; the real one has `prerendered/demo.html`. */
function demoPage(): Plugin {
  return {
    name: 'demo-page',
    apply: 'serve',
    transformIndexHtml: (html, { originalUrl }) =>
      /^\/stagi-demo(?:[/?]|$)/.test(originalUrl ?? '') ? html.replace('src/main.tsx', 'src/demoMain.tsx') : html,
  };
}

/**
 * Gives every file but `src/api/schemas.ts` the table of calls without its schemas. Pages name a call by its path. The
 * schemas and their library would be a sixth of the size budget of a first page.
 *
 * Each domain is a module of its own, and a file imports those that it names: visitors' pages carry the names of their
 * own calls only.
 */
function namesOfCalls(): Plugin {
  const TABLE = '@stagi/contract/api.ts';
  const IMPORT = `import { api } from '${TABLE}';`;
  type Table = Record<string, Record<string, { path: string; auth: unknown }>>;
  return {
    name: 'names-of-calls',
    enforce: 'pre',
    resolveId(id, importer) {
      if (id.startsWith(NAMES)) return `\0${id}`;
      if (id === TABLE && importer && !importer.endsWith('/src/api/schemas.ts'))
        throw new Error(`${importer} must import the table of calls as: ${IMPORT}`);
      return null;
    },
    transform(code) {
      if (!code.includes(IMPORT)) return null;
      const domains = [...new Set([...code.matchAll(/(?<![\w./])api\.(\w+)/g)].map(([, domain]) => domain))];
      const imports = domains.map((domain) => `import calls_${domain} from ${JSON.stringify(NAMES + domain)};`);
      const entries = domains.map((domain) => `${domain}: calls_${domain}`);
      // On one line: those of the file keep their numbers.
      const table = `${imports.join(' ')} const api = { ${entries.join(', ')} };`;
      return { code: code.replace(IMPORT, () => table), map: null };
    },
    async load(id) {
      if (!isNames(id)) return null;
      const domain = id.slice(NAMES.length + 1);
      if (domain === '') return READ_NAMES;
      const { api } = (await import(TABLE)) as { api: Table };
      const calls = api[domain];
      if (!calls) throw new Error(`There are no calls api.${domain}`);
      // A path that is the domain's prefix and the name of the call is left out; of others the prefix is. Of `auth` the
      // browser needs only whether a call is public: a `!` behind it.
      const prefix = prefixOf(Object.values(calls).map(({ path }) => path));
      const words = Object.entries(calls).map(([name, { path, auth }]) => {
        const rest = path.startsWith(prefix) ? path.slice(prefix.length) : `/${path}`;
        return name + (rest === name ? '' : `=${rest}`) + (auth === 'public' ? '!' : '');
      });
      return `import { read } from ${JSON.stringify(NAMES)};
        export default /* @__PURE__ */ read(${JSON.stringify([prefix, ...words].join(' '))});`;
    },
  };
}

const NAMES = 'names-of-calls/';
/** Of modules that are no files, by the bundler's convention. */
const isNames = (id: string): boolean => id.startsWith(`\0${NAMES}`);
const isContract = (id: string): boolean => id.includes('/contract/src/');
const READ_NAMES = `export function read(line) {
  const [prefix, ...words] = line.split(' ');
  const calls = {};
  for (const word of words) {
    const [called, open] = word.split('!');
    const [name, rest = name] = called.split('=');
    const path = rest[0] === '/' ? rest.slice(1) : prefix + rest;
    calls[name] = open === undefined ? { path } : { path, auth: 'public' };
  }
  return calls;
}`;

/** What most of these paths begin with, up to a `/`; empty if they have nothing in common. */
function prefixOf(paths: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.slice(0, path.indexOf('/') + 1);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}

/**
 * Makes the library's controls keep the id that React gives them. By default each replaces it by a random one right
 * after the first render, in case a page has several roots. So everything with an id renders twice.
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

/** Marks the schemas of the contract as pure, so that the bundler drops unused ones. */
function pureSchemas(): Plugin {
  return {
    name: 'pure-schemas',
    apply: 'build',
    enforce: 'post',
    transform(code, id) {
      if (!isContract(id)) return null;
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

/** Finds the modules of `first` once the graph is known. Follows static imports only, not dynamic ones. */
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
          // Libraries are left to the bundler: it includes only what is imported from their barrel files.
          ahead.push(...(this.getModuleInfo(id)?.importedIds ?? []).filter((next) => !next.includes('node_modules')));
        }
        return found;
      };
      first.everywhere = reach('/src/main.tsx', new Set());
      first.signing = reach('/src/features/auth/SignInPage.tsx', first.everywhere);
      // Modules that the pages of visitors share with the groups below stay out of those, so that visitors need not
      // load them.
      const visitors = new Set([...first.everywhere, ...first.signing]);
      for (const page of ['home/HomePage', 'auth/SignUpPage'])
        for (const id of reach(`/src/features/${page}.tsx`, visitors)) visitors.add(id);
      first.confirming = reach('/src/features/auth/ConfirmationPage.tsx', visitors);
      // Its own code is of no use to the other forms.
      for (const id of first.confirming) if (id.includes('/features/auth/')) first.confirming.delete(id);
      for (const id of first.confirming) visitors.add(id);
      // The page of a model is open to visitors: what it shares with the pages of signed-in people is a group.
      for (const id of reach('/src/features/models/detail/ModelPage.tsx', visitors)) {
        if (!id.includes('/features/') && !id.includes('/perf/')) first.showing.add(id);
        visitors.add(id);
      }
      // So is the catalogue: what it shares with their forms every page has, what it shares with the lists of signed-in
      // people is a group.
      for (const id of reach('/src/features/models/list/ModelsPage.tsx', first.everywhere)) {
        if (first.signing.delete(id) || first.confirming.delete(id)) first.everywhere.add(id);
        else if (!visitors.has(id) && !id.includes('/features/')) first.listing.add(id);
        visitors.add(id);
      }
      // What written pages need besides stays out of the code of signed-in pages.
      for (const page of ['DocsPage', 'TutorialsPage', 'BlogPage', 'LegalPage'])
        for (const id of reach(`/src/features/content/${page}.tsx`, visitors)) {
          if (isNames(id)) first.everywhere.add(id);
          visitors.add(id);
        }
      for (const page of ['layouts/AppLayout', 'layouts/header/SignedInArea', 'features/instances/InstancesPage'])
        for (const id of reach(`/src/${page}.tsx`, visitors)) first.signedIn.add(id);
      // The schemas import modules of the contract that signed-in pages use, and visitors load schemas for a first call:
      // these modules stay out of the code of signed-in pages.
      for (const id of first.signedIn) if (isContract(id) && first.signedIn.delete(id)) first.contract.add(id);
      // What the contact form, which is open to visitors, shares with them is with the other forms of visitors.
      for (const id of reach('/src/features/contact/ContactForm.tsx', visitors))
        if (first.signedIn.delete(id) || first.contract.delete(id)) first.confirming.add(id);
      // Names of calls are small and shared: in a group they need no file of their own. Those that some page of visitors
      // uses go into the group that every page loads. The others go to the contract: firstReads.ts names them all.
      const names = [...this.getModuleIds()].filter((id) => isNames(id) && !visitors.has(id));
      const pages = [...this.getModuleIds()].filter((id) =>
        /\/features\/((home|auth|invitation|content|models\/list|models\/detail)\/\w+Page|contact\/ContactForm)\.tsx$/.test(
          id,
        ),
      );
      const ofVisitors = new Set(pages.flatMap((page) => [...reach(page, visitors)]));
      for (const id of names) (ofVisitors.has(id) ? first.everywhere : first.contract).add(id);
      // main.tsx awaits its page, and the page awaits the chunk that it imports from. That chunk must not contain
      // main.tsx.
      for (const id of first.everywhere) if (id.endsWith('/src/main.tsx')) first.everywhere.delete(id);
    },
  };
}
