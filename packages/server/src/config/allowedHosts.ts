import { ConfigError } from './configError.ts';

/** Further host names that clients may reach the platform by, from a list separated by commas. */
export function readAllowedHosts(text: string | undefined): readonly string[] {
  const names = (text ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  for (const name of names) {
    if (!URL.canParse(`http://${name}`) || new URL(`http://${name}`).hostname !== name)
      throw new ConfigError('ALLOWED_HOSTS', `must be names like stagi.example, without ports, not "${name}"`);
  }
  return names;
}
