import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The page that describes all settings: the one place where their effects are written. */
const PAGE = join(import.meta.dirname, '../../../../content/docs/en/operating/configuration.md');
const HEADING = /^## (.+)$/;
const ROW = /^\| (`[A-Z][^|]*) \| ([^|]*) \| (.*) \|$/;
const NAME = /`([A-Z][A-Z0-9_]+)`/g;
/** Read by Node and by libraries, not by the platform. */
const FOREIGN =
  /^(AWS_[A-Z_]+|NODE_[A-Z_]+|SSL_CERT_(FILE|DIR)|GLIBC_TUNABLES|PATH|HOME|LANG|LC_[A-Z]+|TZ|(HTTPS?|NO)_PROXY|COMPOSE_[A-Z_]+|POSTGRES_[A-Z_]+|STAGI_(ENV_FILE|BACKUP_[A-Z]+))$/;
const SHOWN = 80;

export interface Setting {
  name: string;
  subject: string;
  fallback: string;
  effect: string;
}

export interface GivenSetting extends Setting {
  /** Without secrets. */
  value: string;
}

/** All settings, in the order of the page. */
export function readSettings(): Setting[] {
  let subject = '';
  return readFileSync(PAGE, 'utf8')
    .split('\n')
    .flatMap((line) => {
      subject = HEADING.exec(line)?.[1] ?? subject;
      const [, names, fallback, effect] = ROW.exec(line) ?? [];
      if (!names) return [];
      const plain = (markdown: string) => markdown.replace(/\]\([^()\]]*\)/g, '').replace(/[[`]/g, '');
      return [...names.matchAll(NAME)].map(([, name]) => ({
        name: name!,
        subject,
        fallback: plain(fallback!),
        effect: plain(effect!),
      }));
    });
}

/** Those that have a value. */
export function givenSettings(env: Record<string, string | undefined>): GivenSetting[] {
  return readSettings()
    .filter(({ name }) => env[name])
    .map((setting) => ({ ...setting, value: withoutSecret(setting.name, env[setting.name]!) }));
}

/** Names of a settings file that nothing reads: most often a slip of the pen. */
export function unknownNames(names: readonly string[]): { name: string; meant: string | null }[] {
  const known = readSettings().map(({ name }) => name);
  return names
    .filter((name) => !known.includes(name) && !FOREIGN.test(name))
    .map((name) => ({ name, meant: known.find((one) => isNear(one, name)) ?? null }));
}

function withoutSecret(name: string, value: string): string {
  if (/SECRET|PASSWORD(?!_SIGN_IN)|TOKEN/.test(name)) return '(set)';
  if (value.startsWith('[')) return `(a list of ${listLength(value)})`;
  const shown = URL.canParse(value) ? withoutPassword(new URL(value)) : value;
  const line = shown.replace(/\s+/g, ' ');
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}

function withoutPassword(url: URL): string {
  if (url.password) url.password = '…';
  return decodeURI(url.href.replace(/\/$/, ''));
}

function listLength(json: string): number | string {
  try {
    return (JSON.parse(json) as unknown[]).length;
  } catch {
    // The configuration says what is wrong with it.
    return '?';
  }
}

/** The same letters but for one that was left out, added, changed or in another place, or other separators. */
function isNear(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.replaceAll('_', ''));
  if (a === b) return true;
  if (Math.abs(a!.length - b!.length) > 1) return false;
  const before = [...a!].findIndex((letter, at) => letter !== b![at]);
  const at = before === -1 ? a!.length : before;
  const rests = [a!.slice(at), b!.slice(at)] as const;
  return (
    rests[0].slice(1) === rests[1].slice(1) ||
    rests[0].slice(1) === rests[1] ||
    rests[0] === rests[1].slice(1) ||
    (rests[0].slice(2) === rests[1].slice(2) && rests[0][0] === rests[1][1] && rests[0][1] === rests[1][0])
  );
}
