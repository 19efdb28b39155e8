import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv, styleText } from 'node:util';
import type { Config } from '../packages/server/src/config/config.ts';
import { checkPlatform } from '../packages/server/src/operatorCheck/checkPlatform.ts';
import type { Finding } from '../packages/server/src/operatorCheck/finding.ts';
import {
  givenSettings,
  readSettings,
  type Setting,
  unknownNames,
} from '../packages/server/src/operatorCheck/settings.ts';
import { ROOT } from './run.ts';

const SIGNS = { ok: '✓', warning: '!', problem: '✗' } as const;
const COLOURS = { ok: 'green', warning: 'yellow', problem: 'red' } as const;

/** Prints the settings with their effect. With `showsAll` those without a value, too. */
export function printSettings(env: Record<string, string | undefined>, { showsAll }: { showsAll: boolean }): void {
  const given = givenSettings(env);
  const shown: (Setting & { value?: string })[] = showsAll
    ? readSettings().map((setting) => given.find(({ name }) => name === setting.name) ?? setting)
    : given;
  const file = settingsFile(env);
  console.log(`Settings${file ? ` (of the environment and ${file})` : ''}`);
  let subject = '';
  for (const setting of shown) {
    if (setting.subject !== subject) console.log(`\n  ${setting.subject}`);
    subject = setting.subject;
    const value = setting.value === undefined ? `not set: ${setting.fallback}` : setting.value;
    console.log(`    ${setting.name} = ${value}\n      ${setting.effect}`);
  }
  if (shown.length === 0) console.log('\n  None has a value: all have their defaults.');
  else if (!showsAll) console.log('\n  All others have their defaults: --all shows them.');
}

/** Reaches what the settings name, prints the results and answers the exit code: 1 where something does not work. */
export async function printCheck(config: Config, env: Record<string, string | undefined>): Promise<number> {
  console.log('\nCheck\n');
  const found = [...checkSettingsFile(env), ...(await checkPlatform(config))];
  const width = Math.max(...found.map(({ about }) => about.length));
  for (const { level, about, says } of found)
    console.log(`${styleText(COLOURS[level], SIGNS[level])} ${about.padEnd(width)}  ${says}`);
  const count = (level: Finding['level']) => found.filter((one) => one.level === level).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  console.log(
    `\n${problems} ${problems === 1 ? 'problem' : 'problems'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`,
  );
  return problems > 0 ? 1 : 0;
}

function settingsFile(env: Record<string, string | undefined>): string | null {
  const file = env.STAGI_ENV_FILE || join(ROOT, 'stagi.env');
  return existsSync(file) ? file : null;
}

function checkSettingsFile(env: Record<string, string | undefined>): Finding[] {
  const file = settingsFile(env);
  if (!file) return [];
  const names = Object.keys(parseEnv(readFileSync(file, 'utf8')));
  return unknownNames(names).map(({ name, meant }) => ({
    level: 'warning',
    about: 'Settings',
    says: `${file} sets ${name}, and no setting has that name${meant ? `: ${meant} is meant?` : ''}`,
  }));
}
