import type { ActivityKind } from '@stagi/contract/instances.ts';
import type { ProjectActivity } from '@stagi/contract/projects.ts';
import { text } from '@stagi/contract/text.ts';

/** The activities of a server, by the kind that is stored: a noun and what was done to it, as in all lists of activities. */
export const SERVER_ACTIVITIES: Record<Exclude<ActivityKind, 'status'>, string> = {
  rented: text('Server rented'),
  created: text('Server created'),
  adopted: text('Server adopted'),
  'enrolment reissued': text('Enrolment reissued'),
  'enrolment refused': text('Enrolment refused'),
  'key replaced': text('Key replaced'),
  'ssh key added': text('SSH key added'),
  'ssh key removed': text('SSH key removed'),
};

/** The activities of a project. */
export const PROJECT_ACTIVITIES: Record<ProjectActivity['kind'], string> = {
  created: text('Project created'),
  push: text('Commits pushed'),
  'import started': text('Import started'),
  'import done': text('Import finished'),
  'import failed': text('Import failed'),
  'instance attached': text('Server attached'),
  'instance detached': text('Server detached'),
  archived: text('Project archived'),
  unarchived: text('Project unarchived'),
};
