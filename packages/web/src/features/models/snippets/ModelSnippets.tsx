import { Stack } from '@mantine/core';
import type { Model } from '@stagi/contract/models.ts';
import { filesOf } from '@stagi/perf/quality.ts';
import { useT } from '../../../i18n/i18n.ts';
import { CodeBlock } from '../../../ui/CodeBlock.tsx';
import { Heading } from '../../../ui/Heading.tsx';
import { Tabs } from '../../../ui/Tabs.tsx';
import { chosenFile } from '../setup.ts';
import { useModelChoice } from '../useModelChoice.ts';
import { type Endpoint, PLACEHOLDER, snippets } from './snippets.ts';

interface Props {
  model: Model;
  /** A deployed one; without it an address is put in its place, and said so. */
  endpoint?: Endpoint;
}

/** How programs ask the model once it is deployed. */
export function ModelSnippets({ model, endpoint }: Props) {
  const t = useT();
  const { choice } = useModelChoice(model);
  const file = chosenFile(filesOf(model.entry), choice.quality, choice);
  const isPlaceholder = endpoint === undefined;
  // Engines call a model as its repository is called.
  const shown = endpoint ?? { url: PLACEHOLDER, model: file?.repository ?? model.id, hasKey: true };
  const parts = snippets(model.task, shown);
  return (
    <Stack component="section" gap={12} mt={32} aria-labelledby="snippets" data-testid="model-snippets">
      <Heading level={2} id="snippets">
        {t('Use it from code')}
      </Heading>
      {parts ? (
        <>
          {isPlaceholder && (
            <p className="muted" style={{ margin: 0 }}>
              {t(
                '{{address}} stands for the address of your endpoint, which exists once you have deployed the model.',
                {
                  address: PLACEHOLDER,
                },
              )}{' '}
              {t('API_KEY is the key of its API, which this page shows then.')}
            </p>
          )}
          {shown.isPrivate && !isPlaceholder && (
            <p className="muted" style={{ margin: 0 }}>
              {t('Its port is private: STAGI_TOKEN is an API token of yours. API_KEY is the key of its API.')}
            </p>
          )}
          <Tabs
            label={t('Tools')}
            tabs={parts.map(({ key, tool, code }) => ({
              key,
              label: tool,
              content: <CodeBlock wrap code={code} />,
            }))}
          />
        </>
      ) : (
        <p className="muted" style={{ margin: 0 }}>
          {t('The engines for models of this kind have no common API: see the documentation of the one that you run.')}
        </p>
      )}
    </Stack>
  );
}
