import { api } from '@stagi/contract/api.ts';
import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { useState } from 'react';
import { useCall } from '../../../api/useCall.ts';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { CodeBlock } from '../../../ui/CodeBlock.tsx';
import classes from './Endpoints.module.css';

/** The key that programs send to the engine. It is fetched only when it is asked for. */
export function KeyOfEndpoint({ endpoint: { id, instance } }: { endpoint: ModelEndpoint }) {
  const t = useT();
  const [key, setKey] = useState<string | null>(null);
  const mayReveal = useHasPermission(
    instance.kind === 'rented' ? 'INSTANCE_RENTED_MANAGEMENT' : 'SELFHOSTED_INSTANCE_MANAGEMENT',
  );
  const { run, loading } = useCall(api.modelEndpoints.revealKey, { onDone: (answer) => setKey(answer.key) });
  if (!mayReveal) return null;
  return (
    <div className={classes.key}>
      {key === null ? (
        <Button color="gray" size="xs" loading={loading} onClick={() => void run({ id })} data-testid="reveal-key">
          {t('Show the key of its API')}
        </Button>
      ) : (
        <CodeBlock title={t('Key of its API')} code={key} wrap />
      )}
    </div>
  );
}
