import { holdsAny, type Permission, ROLE_PERMISSIONS, ROLES } from '@stagi/contract/permissions.ts';
import { text } from '@stagi/contract/text.ts';
import { PublicError } from '../http/errors.ts';

/** By field of a task's form: one of these is needed beside RUNNING_TASKS, for what a task reads and writes there. */
const NEEDED: Record<'projectRef' | 'storageRef', { anyOf: readonly Permission[]; refusal: string }> = {
  projectRef: {
    anyOf: ['PROJECT', 'PROJECT_MANAGEMENT'],
    refusal: text('A task runs code of its project: you need the permission PROJECT or PROJECT_MANAGEMENT'),
  },
  storageRef: {
    anyOf: ['INSTANCE_RENTED_MANAGEMENT'],
    refusal: text('A task reads and writes its storage: you need the permission INSTANCE_RENTED_MANAGEMENT'),
  },
};

/** Refuses, at the field of each right that is missing, what a task could read for somebody who may not read it. */
export function requireTaskRights({ permissions }: { permissions: readonly Permission[] }): void {
  const missing = Object.entries(NEEDED).filter(([, { anyOf }]) => !holdsAny(permissions, anyOf));
  const [first] = missing;
  if (!first) return;
  throw new PublicError(400, first[1].refusal, {
    fieldsWithError: missing.map(([field]) => field),
    fieldMessages: Object.fromEntries(missing.map(([field, { refusal }]) => [field, refusal])),
  });
}

/** The roles whose holders may make tasks, and keep schedules. */
export const ROLES_WITH_TASKS = ROLES.filter((role) => {
  const held = ROLE_PERMISSIONS[role];
  return held.includes('RUNNING_TASKS') && Object.values(NEEDED).every(({ anyOf }) => holdsAny(held, anyOf));
});
