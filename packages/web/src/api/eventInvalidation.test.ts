import { expect, it } from 'vitest';
import { isAffectedBy } from './eventInvalidation.ts';

const project = (id: number | null) => ({ entity: 'project' as const, id });

it('a push refreshes the pages of its project, its code too, and no page of another one', () => {
  for (const [path, input] of [
    ['project/view', { id: 1 }],
    ['project/code/tree', { id: 1, branch: 'main' }],
    ['project/instance/list', { projectRef: { id: 1 } }],
    ['project/activity/list', { projectRef: { id: 1 } }],
  ] as const) {
    expect.soft(isAffectedBy(project(1), [path, input]), path).toBe(true);
    expect.soft(isAffectedBy(project(2), [path, input]), path).toBe(false);
    expect.soft(isAffectedBy(project(null), [path, input]), path).toBe(true);
  }
  expect(isAffectedBy(project(2), ['project/list', {}])).toBe(true);
  expect(isAffectedBy(project(2), ['docker-container/list', { projectRef: { id: 1 } }])).toBe(true);
  expect(isAffectedBy(project(2), ['storage/list', {}])).toBe(false);
});

it('a server or a container refreshes what projects show of it', () => {
  const list = ['project/instance/list', { projectRef: { id: 1 } }] as const;
  expect(isAffectedBy({ entity: 'instance-rented', id: 7 }, list)).toBe(true);
  expect(isAffectedBy({ entity: 'self-hosted-instance', id: 7 }, list)).toBe(true);
  expect(isAffectedBy({ entity: 'docker-container', id: 7 }, ['project/view', { id: 1 }])).toBe(true);
  expect(isAffectedBy({ entity: 'storage', id: 7 }, ['storage/view', { id: 8 }])).toBe(false);
});
