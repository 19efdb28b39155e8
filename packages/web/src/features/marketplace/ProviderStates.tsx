import { Progress } from '@mantine/core';
import type { ProviderState } from '@stagi/contract/hardware.ts';
import { useT } from '../../i18n/i18n.ts';
import { Note } from '../../ui/Note.tsx';
import { Elapsed } from '../../ui/Time.tsx';
import classes from './Marketplace.module.css';

/** Clouds that have nothing to rent yet, and why. */
export function ProviderStates({ providers }: { providers: readonly ProviderState[] }) {
  const waiting = providers.filter(({ state }) => state !== 'ready');
  if (waiting.length === 0) return null;
  return (
    <div className={classes.providers}>
      {waiting.map((provider) => (
        <State key={provider.provider} provider={provider} />
      ))}
    </div>
  );
}

function State({ provider: { title, state, detail, progress, since } }: { provider: ProviderState }) {
  const t = useT();
  if (state === 'unavailable') {
    return (
      <Note tone="warn" title={t('{{provider}} is currently unavailable', { provider: title })}>
        {detail && t(detail)}
      </Note>
    );
  }
  const percent = progress === null ? null : Math.round(progress * 100);
  return (
    <Note
      title={
        <>
          {t('{{provider}} is being prepared', { provider: title })}
          {since && (
            <span className={classes.since}>
              {percent !== null && `${percent} % · `}
              <Elapsed since={since} />
            </span>
          )}
        </>
      }
    >
      {t(detail ?? 'The machine image is being built…')}
      <Progress
        mt={8}
        size="sm"
        value={percent ?? 100}
        animated={percent === null}
        striped={percent === null}
        aria-label={t('Preparing {{provider}}', { provider: title })}
      />
    </Note>
  );
}
