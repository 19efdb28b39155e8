import { SegmentedControl, Stack } from '@mantine/core';
import { type SnippetKey, storageSnippets } from '@stagi/contract/storageSnippets.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { CodeBlock } from '../../ui/CodeBlock.tsx';
import { Tabs } from '../../ui/Tabs.tsx';

/** How each tool connects, from a person's machine or from a rented server. */
export function Snippets({ storage, storageKey }: { storage: Storage; storageKey?: SnippetKey }) {
  const t = useT();
  const [from, setFrom] = useState('anywhere');
  const endpoint = from === 'server' ? storage.machineEndpoint : storage.endpoint;
  return (
    <Stack gap={12} data-testid="snippets">
      {storage.machineEndpoint !== storage.endpoint && (
        <SegmentedControl
          aria-label={t('Where it runs')}
          value={from}
          onChange={setFrom}
          data={[
            { value: 'anywhere', label: t('Your machine') },
            { value: 'server', label: t('A rented server') },
          ]}
        />
      )}
      <Tabs
        label={t('Tools')}
        tabs={storageSnippets({ ...storage, endpoint }, storageKey).map(({ key, tool, code }) => ({
          key,
          label: tool,
          content: <CodeBlock wrap code={code} />,
        }))}
      />
    </Stack>
  );
}
