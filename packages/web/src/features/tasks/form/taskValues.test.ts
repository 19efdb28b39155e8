import type { TaskFields } from '@stagi/contract/taskFields.ts';
import { CreateTask } from '@stagi/contract/tasks.ts';
import { expect, it } from 'vitest';
import { initialValues, keepsValues, scheduleInput, taskInput } from './taskValues.ts';

const OFFERED = {
  projectId: 3,
  projects: [{ id: 3, defaultBranch: 'main' }],
  instances: [
    { id: 5, refusal: null },
    { id: 6, refusal: 'It is being terminated' },
  ],
  storages: [
    { id: 8, readOnly: false },
    { id: 9, readOnly: false },
  ],
};

const LAST: TaskFields = {
  projectId: 3,
  instanceId: 6,
  storageId: 9,
  inputUrlPath: 'datasets/',
  inputPath: '/data',
  outputPath: '/results',
  codePath: '/code',
  command: 'python train.py',
  commit: 'tuning',
  image: 'python:3.13',
  cpus: 2.5,
  gpuCount: 1,
  envNames: ['TOKEN', 'MODE'],
  timeLimitMinutes: null,
  retries: 2,
  retryOnFailure: true,
  priority: 'high',
};

it('begins with the default branch and what there is only one of', () => {
  expect(initialValues(OFFERED, null, 'UTC')).toMatchObject({
    projectRef: '3',
    commit: 'main',
    instanceRef: '5',
    storageRef: '',
    codePath: '/workspace',
    timeZone: 'UTC',
  });
});

it('sends the values of another task as they were', () => {
  const values = initialValues(OFFERED, LAST, 'UTC');
  const input = taskInput(values);
  expect(input).toMatchObject({
    instanceRef: { id: 6 },
    storageRef: { id: 9 },
    commit: 'tuning',
    cpus: 2.5,
    timeLimitMinutes: null,
    retries: 2,
    env: [
      { name: 'TOKEN', value: undefined },
      { name: 'MODE', value: undefined },
    ],
  });
  expect(CreateTask.safeParse(input).error).toBeUndefined();
});

it('keeps the values of variables until they are typed anew', () => {
  const values = initialValues(OFFERED, LAST, 'UTC');
  expect(keepsValues(values)).toBe(true);
  const typed = { ...values, env: values.env.map((row) => ({ ...row, value: 'new' })) };
  expect(keepsValues(typed)).toBe(false);
  expect(taskInput(typed).env).toEqual([
    { name: 'TOKEN', value: 'new' },
    { name: 'MODE', value: 'new' },
  ]);
});

it('takes the branch of its own project, and no server or storage that is not offered', () => {
  const elsewhere = { ...LAST, projectId: 4, instanceId: 77, storageId: 78 };
  expect(initialValues({ ...OFFERED, instances: [] }, elsewhere, 'UTC')).toMatchObject({
    commit: 'main',
    instanceRef: '',
    storageRef: '',
    command: 'python train.py',
  });
});

it('leaves out what is empty, so that it is reported as missing', () => {
  const values = { ...initialValues(OFFERED, null, 'UTC'), instanceRef: '', cpus: '', inputPath: '' };
  const { error } = CreateTask.safeParse(taskInput(values));
  // Of several messages of a field the first is shown.
  const issues = error?.issues.toReversed() ?? [];
  const messages = Object.fromEntries(issues.map(({ path, message }) => [path.join('.'), message]));
  expect(messages).toMatchObject({
    instanceRef: 'Server is required',
    storageRef: 'Storage is required',
    inputUrlPath: 'Input URL path is required',
    inputPath: 'Input path is required',
    command: 'Launch command is required',
    image: 'Image is required',
    cpus: 'CPU is required',
  });
});

it('refuses the root as the path of the code', () => {
  const { error } = CreateTask.safeParse(taskInput({ ...initialValues(OFFERED, LAST, 'UTC'), codePath: '/' }));
  expect(error?.issues.map(({ message }) => message)).toEqual(['The root directory cannot be used for cloning']);
});

it('leaves out a time that is none', () => {
  const values = initialValues(OFFERED, LAST, 'Europe/Berlin');
  expect(scheduleInput({ ...values, title: 'Nightly', time: '3:7' })).toEqual({
    title: 'Nightly',
    cron: undefined,
    timeZone: 'Europe/Berlin',
  });
});
