import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import { FormItem } from '../../../ui/form/FormItem.tsx';
import { formatNumber } from '../../../ui/format.ts';
import type { ModelChoice } from '../modelChoice.ts';
import classes from './Calculator.module.css';
import { NumberField } from './NumberField.tsx';

interface Props {
  choice: ModelChoice;
  choose(changed: Partial<ModelChoice>): void;
  contextLength: number | null;
}

/** How many ask, and how long prompts and answers are. */
export function LoadFields({ choice: { load, lengths }, choose, contextLength }: Props) {
  const t = useT();
  // The number of the other kind of load comes back with it.
  const [last, setLast] = useState({ clients: 8, perSecond: 1, ...load });
  const isTooLong = contextLength !== null && lengths.input + lengths.output > contextLength;

  function change(next: ModelChoice['load']): void {
    setLast({ ...last, ...next });
    choose({ load: next });
  }

  return (
    <div className={classes.fields}>
      <FormItem label={t('Load')} group="group">
        <SegmentedControl
          aria-label={t('Load')}
          value={'clients' in load ? 'clients' : 'rate'}
          onChange={(kind) => change(kind === 'clients' ? { clients: last.clients } : { perSecond: last.perSecond })}
          data={[
            { value: 'clients', label: t('Clients') },
            { value: 'rate', label: t('Requests') },
          ]}
        />
      </FormItem>
      {'clients' in load ? (
        <NumberField
          key="clients"
          label={t('Clients at once')}
          name="clients"
          value={load.clients}
          onChange={(clients) => clients !== null && change({ clients })}
        />
      ) : (
        <NumberField
          key="rate"
          label={t('Requests per second')}
          name="rate"
          value={load.perSecond}
          onChange={(perSecond) => perSecond !== null && change({ perSecond })}
        />
      )}
      <NumberField
        label={t('Prompt, tokens')}
        name="input"
        value={lengths.input}
        onChange={(input) => input !== null && choose({ lengths: { ...lengths, input } })}
      />
      <NumberField
        label={t('Answer, tokens')}
        name="output"
        value={lengths.output}
        error={
          isTooLong
            ? t('With the prompt that is more than the {{tokens}} tokens that this model reads', {
                tokens: formatNumber(contextLength, 0),
              })
            : undefined
        }
        onChange={(output) => output !== null && choose({ lengths: { ...lengths, output } })}
      />
    </div>
  );
}
