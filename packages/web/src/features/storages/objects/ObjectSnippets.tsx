import { api } from '@stagi/contract/api.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { useState } from 'react';
import { Link } from 'react-router';
import { useCall } from '../../../api/useCall.ts';
import { useT } from '../../../i18n/i18n.ts';
import { fileNameOf, quoted, s3Uri } from '../../../objects/objectNames.ts';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { CodeBlock } from '../../../ui/CodeBlock.tsx';
import { Tabs } from '../../../ui/Tabs.tsx';
import classes from './Objects.module.css';

/** Commands that fetch one object. */
export function ObjectSnippets({ storage, objectKey }: { storage: Storage; objectKey: string }) {
  const t = useT();
  const file = quoted(`./${fileNameOf(objectKey)}`);
  const aws = `aws s3 cp --endpoint-url ${storage.endpoint} \\\n  ${quoted(s3Uri(storage.bucket, objectKey))} ${file}`;
  const rclone = `rclone copyto --s3-provider Other --s3-env-auth \\\n  --s3-endpoint ${storage.endpoint} \\\n  ${quoted(`:s3:${storage.bucket}/${objectKey}`)} ${file}`;
  const withKey = (
    <p className="muted">
      {t('Needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of a key:')}{' '}
      <Link to={paths.storage(storage.id, 'keys')}>{t('Keys')}</Link>
    </p>
  );
  return (
    <Tabs
      label={t('Commands')}
      tabs={[
        {
          key: 'aws',
          label: 'AWS CLI',
          content: (
            <>
              <CodeBlock code={aws} />
              {withKey}
            </>
          ),
        },
        {
          key: 'rclone',
          label: 'rclone',
          content: (
            <>
              <CodeBlock code={rclone} />
              {withKey}
            </>
          ),
        },
        { key: 'curl', label: 'curl', content: <CurlSnippet storage={storage} objectKey={objectKey} file={file} /> },
      ]}
    />
  );
}

function CurlSnippet({ storage, objectKey, file }: { storage: Storage; objectKey: string; file: string }) {
  const t = useT();
  const { run, loading, error } = useCall(api.storages.downloadLink);
  const [link, setLink] = useState<string | null>(null);
  return (
    <div className={classes.section}>
      {link && <CodeBlock code={`curl --fail --output ${file} \\\n  ${quoted(link)}`} />}
      <p className="muted">{t('The link in it works for 15 minutes and needs no key.')}</p>
      {!link && (
        <Button
          color="gray"
          size="xs"
          loading={loading}
          onClick={async () => setLink((await run({ id: storage.id, key: objectKey }))?.link ?? null)}
        >
          {error ? t('Try again') : t('Make the command')}
        </Button>
      )}
    </div>
  );
}
