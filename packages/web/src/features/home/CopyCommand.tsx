import { useEffect, useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';

const SAID_MS = 1_500;

/** Copies a command and says so. Smaller than the kit's button, whose tooltip and icons a first page does without. */
export function CopyCommand({ value }: { value: string }) {
  const t = useT();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <>
      <Button color="gray" size="xxs" onClick={() => navigator.clipboard.writeText(value).then(() => setCopied(true))}>
        {copied ? t('Copied') : t('Copy')}
      </Button>
      <span className="visually-hidden" role="status">
        {copied && t('Copied')}
      </span>
    </>
  );
}
