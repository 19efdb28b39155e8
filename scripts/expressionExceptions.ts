const PAGES = 'pages of this repository, read when they are built or at the start';
const SOURCES = 'source files of this repository, read by a check';
const KERNEL = 'files of the kernel';
const OWN_BROWSER = 'in the browser of the person who typed it';
const DOCKER = 'read by the daemon: an error of its own Docker, with a name or path of at most 4,096 bytes';
const CUT = 'a Unique ID that was cut to 40 characters';

/**
 * Expressions that `recheck` does not call safe, or that are put together while the code runs: file and text, each with
 * what bounds the text that it meets.
 */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  'packages/content/src/codeFences.ts: /^[\\s>]*(?:(?:[-*]|\\d+\\.)\\s+)?(`{3,}|~{3,})\\s*(.*)$/': PAGES,
  'packages/content/src/frontMatter.ts: new RegExp': PAGES,
  'packages/content/src/parsePage.ts: /\\s*\\{#([a-z0-9]+(?:-[a-z0-9]+)*)\\}\\s*$/': PAGES,
  'packages/content/src/reference/examples.ts: /"((?:[^"\\\\\\n\']|\\\\")*)"/g': PAGES,
  'packages/content/src/reference/examples.ts: /^(\\s*)"([A-Za-z_$][\\w$]*)":/gm': PAGES,
  'packages/contract/src/plainText.ts: new RegExp': 'one character of a class',
  'packages/daemon/src/dockerErrors.ts: /(?:(?:mkdir|lstat|stat|open) (?:\\S*\\/overlay2\\/\\w+\\/merged)?|Cannot mkdir: )(\\/.*?)(?:\\/\\.)?(?:: not| is not) a directory/':
    DOCKER,
  'packages/daemon/src/dockerErrors.ts: /(?:Bind for|listen tcp\\d?|host port for) (?:\\[[^\\]]*\\]|[\\d.]+):(\\d+).*(?:port is already allocated|address already in use)/':
    DOCKER,
  'packages/daemon/src/dockerErrors.ts: /manifest unknown|manifest for .* not found|repository .* not found|name unknown|invalid reference format/':
    DOCKER,
  'packages/daemon/src/usage/machineCounters.ts: /^\\s*([^:\\s]+):\\s*(.*)$/': KERNEL,
  'packages/daemon/src/usage/controlGroup.ts: new RegExp': KERNEL,
  'packages/daemon/src/usage/machineCounters.ts: new RegExp': KERNEL,
  'packages/perf/src/fit/observations.ts: /(\\d+) median/':
    'measurements of this repository, read when the prediction is fitted',
  'packages/server/src/config/appsDomain.ts: new RegExp': 'a setting, read at the start',
  'packages/server/src/content/written.ts: /(<script[^>]*>[^<]*<\\/script>)/': PAGES,
  'packages/server/src/files/worker.ts: new RegExp': 'nothing in it repeats without a bound',
  'packages/server/src/sshKeys/generate.ts: /^-+|-+$/g': 'a title that was cut to 60 characters',
  'packages/web/src/demo/logAnswers.ts: new RegExp': OWN_BROWSER,
  'packages/web/src/features/models/deploy/deployForm.ts: /-+$/': CUT,
  'packages/web/src/features/projectCode/codeAddress.ts: new RegExp': OWN_BROWSER,
  'packages/web/src/features/projectCode/search/Highlit.tsx: new RegExp': OWN_BROWSER,
  'packages/web/src/i18n/literals.ts: /([!=]==\\s*)?(\'(?:\\\\.|[^\'\\\\])*\'|"(?:\\\\.|[^"\\\\])*"|`[^`$]*`)/g':
    SOURCES,
  'packages/web/src/i18n/messageTemplates.ts: new RegExp':
    'a message of a few hundred characters, in the browser of its reader',
  'packages/web/src/i18n/serverScan.ts: /\\/\\*[\\s\\S]*?\\*\\//g': SOURCES,
  'packages/web/src/i18n/serverScan.ts: /^\\s*\\/\\/.*$/gm': SOURCES,
  'packages/web/src/i18n/serverScan.ts: new RegExp': SOURCES,
  'packages/web/src/palette/textMatch.ts: new RegExp': OWN_BROWSER,
  'packages/web/src/ui/format.ts: /\\B(?=(\\d{3})+$)/g': 'the digits of one number',
  'packages/web/src/ui/slug.ts: /-+$/': CUT,
};
