/**
 * The kinds of things that people act upon, by how the paths of their calls begin. What each list knows of them is a
 * `Record` over this union, so that a new kind does not compile until every list has it: see docs/ADDING.md.
 */
export const ENTITIES = [
  'instance-rented',
  'self-hosted-instance',
  'docker-container',
  'docker-container/template',
  'docker-container/registry',
  'docker-container/image',
  'model',
  'storage',
  'project',
  'task/schedule',
  'task',
  'api-token',
  'ssh-key',
  'client/member',
  'client/invite',
  'client',
  'admin/user',
  'admin/client',
  'admin/promo-code',
  'admin/sign-up-link',
  'admin/stray',
  'admin/contact',
  'admin/model',
] as const;

export type Entity = (typeof ENTITIES)[number];

/** What a call is about; of several beginnings the longest. `null`: of no kind. */
export function entityOf(path: string): Entity | null {
  const found = ENTITIES.filter((entity) => path.startsWith(`${entity}/`));
  return found.toSorted((a, b) => b.length - a.length)[0] ?? null;
}
