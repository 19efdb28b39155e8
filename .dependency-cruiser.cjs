// The rooms of docs/ARCHITECTURE.md, and who may enter. Type-only imports count: a shape is a dependency too. Circles are
// refused by scripts/circles.ts.
const { readdirSync } = require('node:fs');
const { join } = require('node:path');

// The floors of the server: the ground knows no domain, domains import those below them, nothing imports the roof.
const GROUND = [
  'config',
  'db',
  'jobs',
  'bus',
  'http',
  'installation',
  'loops',
  'mail',
  'metrics',
  'providers',
  'quarantine',
  'reconcile',
  'secrets',
  'slots',
  'testing',
];
const ROOF = 'app';
const domains = readdirSync(join(__dirname, 'packages/server/src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && ![...GROUND, ROOF].includes(entry.name))
  .map((entry) => entry.name)
  .join('|');

const SERVER = '^packages/server/src';
const TEST = '\\.test\\.tsx?$|^packages/.*/testing/';
const rule = (name, from, to) => ({ name, severity: 'error', from, to });
const only = (name, room, packages) =>
  rule(
    name,
    { path: `^packages/${room}/src`, pathNot: TEST },
    {
      pathNot: [`^packages/(${room}|contract|perf)/`, `(^|/)node_modules/(@types/)?(${packages})/`],
      dependencyTypesNot: ['core'],
    },
  );

module.exports = {
  forbidden: [
    // Trees of HTML and of Markdown are types alone: there is no module to find.
    rule('everything-resolves', {}, { couldNotResolve: true, pathNot: '^(hast|mdast)$' }),
    rule('no-tests-in-the-product', { path: '^packages/[^/]+/src', pathNot: TEST }, { path: TEST }),
    rule(
      'no-undeclared-packages',
      { path: '^packages/[^/]+/src' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], pathNot: '(^|/)node_modules/(vitest|fast-check)/' },
    ),

    only('contract-imports-zod-only', 'contract', 'zod'),
    // The shape of a model and a GPU, and the words of formulas, cross processes too.
    rule(
      'contract-imports-shapes-of-perf-only',
      { path: '^packages/contract' },
      { path: '^packages/(?!contract|perf/src/(catalogue|engines|quality|precision)\\.ts)' },
    ),
    rule(
      'content-imports-contract-only',
      { path: '^packages/content/src', pathNot: TEST },
      { path: '^packages/(?!content|contract)' },
    ),
    // Runs in browsers, which load no schemas and no Node.
    rule('search-options-stand-alone', { path: '^packages/content/src/searchOptions\\.ts$' }, { path: '^packages/' }),
    only('daemon-imports-contract-only', 'daemon', '[^/]+|@[^/]+/[^/]+'),
    rule('daemon-imports-no-perf', { path: '^packages/daemon' }, { path: '^packages/perf' }),
    rule(
      'web-imports-contract-perf-and-search-options-only',
      { path: '^packages/web/src' },
      { path: '^packages/(?!web|contract|perf|content/src/searchOptions\\.ts)' },
    ),
    // Entries of the catalogue reach the browser through calls, one page at a time.
    rule(
      'web-ships-no-catalogue',
      { path: '^packages/web/src', pathNot: TEST },
      { path: '^packages/perf/src/(catalogueFiles\\.ts|data/(gpus|models|measured|heldOut)\\.json)' },
    ),
    rule(
      'server-imports-contract-content-s3-and-perf-only',
      { path: SERVER, pathNot: TEST },
      { path: '^packages/(?!server|contract|content|s3|perf)' },
    ),
    only('perf-imports-zod-only', 'perf', 'zod'),
    rule('perf-stands-alone', { path: '^packages/perf' }, { path: '^packages/(?!perf)' }),
    rule(
      'fitting-stays-out-of-the-product',
      { path: '^packages/.+', pathNot: [TEST, '^packages/perf/src/fit/'] },
      { path: '^packages/perf/src/fit/' },
    ),
    rule('s3-stands-alone', { path: '^packages/s3/src', pathNot: TEST }, { path: '^packages/(?!s3)' }),
    rule(
      'docker-ts-alone-knows-docker',
      {
        path: '^packages/daemon/src',
        pathNot: [
          TEST,
          '/(docker|dockerArchive|dockerImages|dockerInspect|dockerExec|dockerInit|dockerNetwork|dockerStop|containerSpec).ts$',
        ],
      },
      { path: '/dockerode/' },
    ),

    rule(
      'ground-knows-no-domain',
      // People in tests are made by what the end of a sign-up calls, not by rows that could differ from it. A handler is
      // typed by who makes the call.
      {
        path: `${SERVER}/(${GROUND.join('|')})/`,
        pathNot: ['\\.test\\.ts$', '/testing/signUpDirectly\\.ts$', '/http/handlers\\.ts$'],
      },
      { path: `${SERVER}/(${domains})/` },
    ),
    rule(
      'nothing-imports-the-roof',
      { path: `${SERVER}/`, pathNot: [TEST, `${SERVER}/${ROOF}/`, `${SERVER}/start\\.ts$`] },
      { path: `${SERVER}/${ROOF}/` },
    ),
    rule(
      'queries-stay-home',
      { path: `${SERVER}/([^/]+)/` },
      { path: `${SERVER}/[^/]+/queries\\.ts$`, pathNot: `${SERVER}/$1/` },
    ),
    rule(
      'adapters-behind-the-interface',
      { path: `${SERVER}/(${domains})/`, pathNot: TEST },
      { path: `${SERVER}/providers/[^/]+/` },
    ),
    rule('main-is-the-top', { path: `${SERVER}/.+/`, pathNot: TEST }, { path: `${SERVER}/main\\.ts$` }),

    rule(
      'ui-knows-no-router-and-no-api',
      { path: '^packages/web/src/ui/', pathNot: TEST },
      { path: '^packages/web/src/(?!ui/|i18n/|lazyChunks\\.ts)|/(react-router|@tanstack/react-query)/' },
    ),
    rule(
      'features-stay-apart',
      { path: '^packages/web/src/features/([^/]+)/' },
      { path: '^packages/web/src/features/', pathNot: '^packages/web/src/features/$1/' },
    ),
    rule(
      'shared-rooms-know-no-feature',
      { path: '^packages/web/src/(?!features/|prerender/)[^/]+/' },
      { path: '^packages/web/src/(features/|routes\\.tsx|main\\.tsx)' },
    ),
    rule(
      'api-knows-no-screen',
      { path: '^packages/web/src/api/', pathNot: TEST },
      {
        path: '^packages/web/src/',
        pathNot: '^packages/web/src/((api|i18n)/|ui/toasts\\.ts|paths\\.ts|lazyChunks\\.ts)',
      },
    ),
    rule(
      'layouts-are-the-top-of-the-shared-rooms',
      { path: '^packages/web/src/(?!layouts/|features/|prerender/)[^/]+/' },
      { path: '^packages/web/src/layouts/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/|\\.gen\\.json$' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json', '.css'],
    },
  },
};
