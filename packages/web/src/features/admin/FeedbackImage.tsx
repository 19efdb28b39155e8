import { api } from '@stagi/contract/api.ts';
import type { Feedback } from '@stagi/contract/feedback.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { formatBytes } from '../../ui/format.ts';
import classes from './Feedback.module.css';

/**
 * A screenshot, fetched by a call like everything else: it has no address that works without the operator's session.
 * What is shown is an image of this page's own, whatever the bytes are.
 */
export function FeedbackImage({ feedbackId, image }: { feedbackId: number; image: Feedback['images'][number] }) {
  const t = useT();
  const { position, fileName, width, height, bytes } = image;
  const { data, error, refetch } = useQuery({
    ...q(api.feedback.image, { id: feedbackId, position }, { quiet: true }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    if (!data) return;
    const url = URL.createObjectURL(new Blob([bytesOf(data.contentBase64)], { type: data.mimeType }));
    setAddress(url);
    return () => URL.revokeObjectURL(url);
  }, [data]);

  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} />;
  return (
    <figure className={classes.figure}>
      <div className={classes.frame} style={{ aspectRatio: `${width} / ${height}` }}>
        {address && <img src={address} alt={t('Screenshot {{number}}', { number: position + 1 })} />}
      </div>
      <figcaption className={classes.caption}>
        <span className="mono">{fileName}</span>
        <span>
          {width} × {height} · {formatBytes(bytes)}
        </span>
        {address && (
          <a href={address} download={fileName}>
            {t('Save')}
          </a>
        )}
      </figcaption>
    </figure>
  );
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}
