import { ENGINE_TEMPLATES, type EngineTemplate } from './engineTemplates.ts';
import { canonicalImage } from './imageReference.ts';

/** An engine whose API asks nobody for a key, and what would make it ask; null: nothing does. */
export interface KeylessEngine {
  title: string;
  remedy: string | null;
}

interface Launched {
  dockerImage: string;
  command: string | null | undefined;
  /** The names of its variables. */
  variables: readonly string[];
}

/** The engine that a container serves at this port of it without a key, as far as its image tells; else null. */
export function keylessEngine(port: number, launched: Launched): KeylessEngine | null {
  const image = repositoryOf(launched.dockerImage);
  const template = ENGINE_TEMPLATES.find((one) =>
    Object.values(one.image).some((own) => own !== null && repositoryOf(own) === image),
  );
  if (!template || !isPortOf(template, port, launched.command ?? '')) return null;
  return withoutKey(template, launched);
}

/** The same for a template that is deployed, whose variable of the key the platform sets. */
export function withoutKey(
  { name, title, keyVariable }: EngineTemplate,
  { command, variables }: Pick<Launched, 'command' | 'variables'>,
): KeylessEngine | null {
  if (keyVariable === null) return { title, remedy: null };
  if (/(?:^|[\s'"])--api-key(?:[\s='",]|$)/.test(command ?? '')) return null;
  // SGLang reads its key from its options alone.
  if (name === 'sglang') return { title, remedy: '--api-key' };
  return variables.includes(keyVariable) ? null : { title, remedy: keyVariable };
}

/** At its own port, or at the one that its command names. */
const isPortOf = ({ port }: EngineTemplate, asked: number, command: string): boolean =>
  asked === Number(/(?:^|\s)--port[\s=](\d{1,5})(?:\s|$)/.exec(command)?.[1] ?? port);

/** Without tag and digest. */
const repositoryOf = (image: string): string =>
  canonicalImage(image.trim().toLowerCase())
    .split('@')[0]!
    .replace(/:[^:/]*$/, '');
