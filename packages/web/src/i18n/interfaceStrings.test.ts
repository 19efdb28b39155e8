import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

interface Shown {
  text: string;
  screen: string;
  trigger: string;
  /** Where its words are written. */
  from: string;
  /** The test or story that brings it about and reads it. */
  proof: string;
}

/** Every interface string of the specification's section 8 whose screen exists. */
const SHOWN: readonly Shown[] = [
  {
    text: 'Invalid SSH key',
    screen: 'SSH keys, rent panel, access of a server: adding a key',
    trigger: 'what was entered is not a public key; under the field',
    from: 'packages/server/src/sshKeys/keyProblem.ts',
    proof: 'e2e/rentAndLeave.ts',
  },
  {
    text: 'This SSH key has already been added',
    screen: 'SSH keys, rent panel, access of a server: adding a key',
    trigger: 'the same key is among the person’s own; under the field',
    from: 'packages/server/src/sshKeys/change.ts',
    proof: 'e2e/rentAndLeave.ts',
  },
  {
    text: 'Containers can only be created for server instances that are online',
    screen: 'containers: creating one, and the containers of a server',
    trigger: 'the server is not online; its choice and the button are held back, the call refuses',
    from: 'packages/server/src/containers/create.ts',
    proof: 'packages/server/src/containers/creating.test.ts',
  },
  {
    text: 'No available CPUs to create a container',
    screen: 'containers: creating one',
    trigger: 'more CPUs are asked for than the server has free; under the field',
    from: 'packages/server/src/containers/capacity.ts',
    proof: 'e2e/rentAndLeave.ts',
  },
  {
    text: 'Copied',
    screen: 'everywhere: beside the copy button',
    trigger: 'the button was pressed and the clipboard took it',
    from: 'packages/web/src/ui/CopyButton.tsx',
    proof: 'e2e/home.story.ts',
  },
  {
    text: 'You have no STAGI left. All your instances and tasks are paused.',
    screen: 'every page of the app layout, above the content',
    trigger: 'the balance of the workspace is zero',
    from: 'packages/web/src/notices/ZeroBalanceNotice.tsx',
    proof: 'e2e/accountNotices.long.story.ts',
  },
  {
    text: '< 1 day left',
    screen: 'header, beside the balance',
    trigger: 'at the present rate the balance lasts less than a day',
    from: 'packages/web/src/balance/BalanceIndicator.tsx',
    proof: 'e2e/accountNotices.long.story.ts',
  },
  {
    text: '0 days left',
    screen: 'header, beside the balance',
    trigger: 'the balance is zero',
    from: 'packages/web/src/balance/BalanceIndicator.tsx',
    proof: 'e2e/accountNotices.long.story.ts',
  },
  {
    text: 'days left',
    screen: 'header, beside the balance',
    trigger: 'at the present rate the balance lasts days that are few enough to be told',
    from: 'packages/web/src/balance/BalanceIndicator.tsx',
    proof: 'e2e/accountNotices.long.story.ts',
  },
  {
    text: 'Time remaining before the balance runs out at the current usage rate',
    screen: 'header, beside the balance',
    trigger: 'the days left are pointed at or focused',
    from: 'packages/web/src/balance/BalanceIndicator.tsx',
    proof: 'e2e/accountNotices.long.story.ts',
  },
  {
    text: 'No matches',
    screen: 'every select',
    trigger: 'the search finds no option',
    from: 'packages/web/src/ui/form/Select.tsx',
    proof: 'e2e/kit/formsSelect.long.story.ts',
  },
  {
    text: 'List is empty',
    screen: 'every select',
    trigger: 'there are no options',
    from: 'packages/web/src/ui/form/Select.tsx',
    proof: 'e2e/kit/formsSelect.long.story.ts',
  },
  {
    text: 'Not chosen',
    screen: 'every select',
    trigger: 'no option is chosen and the field has no words of its own for that',
    from: 'packages/web/src/ui/form/Select.tsx',
    proof: 'e2e/kit/formsSelect.long.story.ts',
  },
  {
    text: 'No shortcuts found.',
    screen: 'date-range picker: quick ranges',
    trigger: 'the search finds no quick range; a hint follows',
    from: 'packages/web/src/ui/dateRange/QuickLinks.tsx',
    proof: 'e2e/kit/dates.long.story.ts',
  },
  {
    text: 'Select date',
    screen: 'date-range picker: its button',
    trigger: 'no range is chosen',
    from: 'packages/web/src/ui/dateRange/rangeLabels.ts',
    proof: 'e2e/kit/dates.long.story.ts',
  },
  {
    text: 'Password changed!',
    screen: 'account: changing the password; recovery: setting a new one',
    trigger: 'the server took the new password; toast',
    from: 'packages/web/src/features/account/PasswordSection.tsx',
    proof: 'e2e/recovery.long.story.ts',
  },
  {
    text: 'Password added!',
    screen: 'account: adding a password to an account without one',
    trigger: 'the server took it; toast',
    from: 'packages/web/src/features/account/PasswordSection.tsx',
    proof: 'e2e/recovery.long.story.ts',
  },
  {
    text: 'rental error',
    screen: 'marketplace: renting a server; storages: creating one',
    trigger: 'the server refused or failed for no field’s fault; toast, above the cause',
    from: 'packages/web/src/api/messages.ts',
    proof: 'e2e/responses.long.story.ts',
  },
  {
    text: 'deletion error',
    screen: 'wherever something is deleted or terminated: servers, storages, containers, keys, accounts, strays',
    trigger: 'the server refused or failed; toast, above the cause',
    from: 'packages/web/src/api/messages.ts',
    proof: 'e2e/responses.long.story.ts',
  },
  {
    text: "Couldn't get output",
    screen: 'tasks: the output of one',
    trigger: 'its files could not be listed, as when its storage is gone; above the cause, with another try',
    from: 'packages/web/src/features/tasks/detail/TaskOutput.tsx',
    proof: 'e2e/tasks.story.ts',
  },
  {
    text: 'Task started',
    screen: 'tasks: creating one',
    trigger: 'the task has been queued; toast',
    from: 'packages/web/src/features/tasks/form/TaskForm.tsx',
    proof: 'e2e/taskForm.long.story.ts',
  },
  {
    text: 'Something goes wrong. Try again!',
    screen: 'everywhere: toast, bottom right',
    trigger: 'a reply of status 500 whose body does not say 499, or one that nobody understands',
    from: 'packages/contract/src/errors.ts',
    proof: 'e2e/responses.long.story.ts',
  },
  {
    text: 'console is not supported',
    screen: 'terminal of a container or a server',
    trigger: 'the browser is Opera Mini, which has no WebSockets',
    from: 'packages/web/src/terminal/TerminalView.tsx',
    proof: 'e2e/terminal.long.story.ts',
  },
];

/** Those that wait for their screen; once one of them is written, it belongs to the table above. */
const WAITING: readonly { text: string; screen: string }[] = [
  { text: 'The payment was unsuccessful', screen: 'billing: topping up' },
];

/** The rules for replies (section 8, "Response handling"), by a word of the story that proves each. */
const RULES: readonly { rule: string; proof: string; reads: string }[] = [
  { rule: '2xx with isSuccess false: a toast', proof: 'e2e/responses.long.story.ts', reads: "'200 refused'" },
  { rule: '… unless the call sees to it itself', proof: 'e2e/feedback.long.story.ts', reads: 'isSuccess' },
  {
    rule: '401: refresh and replay, else log out',
    proof: 'e2e/responses.long.story.ts',
    reads: 'ran out is refreshed',
  },
  { rule: '500: the generic toast', proof: 'e2e/responses.long.story.ts', reads: "'500'" },
  { rule: '500 with 499 in the body: silent', proof: 'e2e/responses.long.story.ts', reads: 'status: 499' },
  { rule: '403 and 404: navigate', proof: 'e2e/responses.long.story.ts', reads: '[403, 404]' },
  { rule: 'others with a message: a toast', proof: 'e2e/responses.long.story.ts', reads: "'409'" },
  { rule: '400: to the caller', proof: 'e2e/responses.long.story.ts', reads: 'refusal(400' },
  { rule: 'fieldsWithError: under the field', proof: 'e2e/responses.long.story.ts', reads: 'aria-invalid' },
  { rule: '400 without fields: a notification', proof: 'e2e/responses.long.story.ts', reads: "'400 without a field'" },
  { rule: 'toasts at the bottom right', proof: 'e2e/kit/overlays.long.story.ts', reads: 'bottom' },
];

const ROOT = join(import.meta.dirname, '../../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

it.each(SHOWN)('“$text” is written for $screen and proved', ({ text, from, proof }) => {
  expect(read(from)).toContain(text);
  expect(read(proof)).toContain(text);
});

it.each(RULES)('$rule: a story proves it', ({ proof, reads }) => {
  expect(read(proof)).toContain(reads);
});

it('has a screen and a trigger for each string as soon as it is written', () => {
  const code = ['packages/web/src', 'packages/server/src', 'packages/contract/src'].flatMap(sourcesOf).join('\n');
  expect(WAITING.filter(({ text }) => code.includes(text)).map(({ text }) => text)).toEqual([]);
  console.log(`strings of section 8: n = ${SHOWN.length} shown, ${WAITING.length} wait for their screens`);
});

function sourcesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.ts$/.test(name))
    .map((name) => read(join(folder, name)));
}
