import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DEBIAN = '/etc/nginx';
const DEPLOY = join(import.meta.dirname, '..');

/** Why nginx cannot be started here; null where it can. */
export const withoutNginx = (): string | null => {
  if (!existsSync('/usr/sbin/nginx')) return 'nginx is not installed (nginx-light)';
  if (!existsSync('/usr/lib/nginx/modules/ngx_stream_module.so')) return 'libnginx-mod-stream is not installed';
  return null;
};

/** A text of a shipped file and its replacement: exactly so many places must have it. */
export type Replacement = readonly [text: string, by: string, places?: number];

/** A shipped file below `deploy/`, with ports, names and paths replaced by those of a test. */
export function shipped(path: string, replacements: readonly Replacement[]): string {
  let text = readFileSync(join(DEPLOY, path), 'utf8');
  for (const [from, to, places = 1] of replacements) {
    const found = text.split(from).length - 1;
    if (found !== places) throw new Error(`${path} has "${from}" at ${found} places, not ${places}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

export interface Nginx {
  /** The content of its error log. */
  log(): string;
  stop(): Promise<number | null>;
}

/**
 * Starts nginx as Debian sets it up, on the files of `conf.d` and `modules-enabled` by their names, in place of those of
 * this machine. Rejects when it refuses them.
 */
export async function startNginx(
  folder: string,
  files: { 'conf.d': Record<string, string>; 'modules-enabled': Record<string, string> },
): Promise<Nginx> {
  for (const [place, texts] of Object.entries(files)) {
    mkdirSync(join(folder, place), { recursive: true });
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, place, name), text);
  }
  // Modules are loaded by files beside ours.
  for (const name of readdirSync(join(DEBIAN, 'modules-enabled')))
    writeFileSync(join(folder, 'modules-enabled', name), readFileSync(join(DEBIAN, 'modules-enabled', name)));
  const main = readFileSync(join(DEBIAN, 'nginx.conf'), 'utf8')
    .replace(`include ${DEBIAN}/sites-enabled/*;`, '')
    .replaceAll(`${DEBIAN}/modules-enabled`, join(folder, 'modules-enabled'))
    .replaceAll(`${DEBIAN}/conf.d`, join(folder, 'conf.d'))
    .replaceAll(/\/var\/log\/nginx|\/run(?=\/nginx.pid)/g, folder);
  return runNginx(folder, main);
}

async function runNginx(folder: string, main: string): Promise<Nginx> {
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, main);
  const errors = join(folder, 'error.log');
  const args = ['-c', file, '-e', errors];
  const { status, stderr } = spawnSync('nginx', ['-t', ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`nginx refuses its files: ${stderr}`);
  const child = spawn('nginx', [...args, '-g', 'daemon off;'], { stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return {
    log: () => readFileSync(errors, 'utf8'),
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
