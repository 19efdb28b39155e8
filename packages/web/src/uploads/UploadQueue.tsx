import {
  IconCheck,
  IconChevronDown,
  IconChevronUp,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconX,
} from '@tabler/icons-react';
import { useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { Button } from '../ui/Button.tsx';
import { CutText } from '../ui/CutText.tsx';
import { formatBytes, formatElapsed } from '../ui/format.ts';
import { IconButton } from '../ui/IconButton.tsx';
import classes from './Uploads.module.css';
import {
  cancelUpload,
  cancelUploads,
  clearEndedUploads,
  isActive,
  pauseUpload,
  retryUpload,
  type Upload,
  uploadRate,
  useUploads,
} from './uploadQueue.ts';

/** Of a folder with thousands of files these are listed: those that failed first, then those under way. */
const LISTED = 50;

/** Files on their way to a place; empty while there are none. */
export function UploadQueue({ place }: { place: string }) {
  const t = useT();
  const uploads = useUploads(place);
  const [folded, setFolded] = useState(false);
  if (uploads.length === 0) return null;
  const counted = uploads.filter(({ state }) => state !== 'canceled');
  const total = counted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const sent = counted.reduce((sum, { sentBytes }) => sum + sentBytes, 0);
  const active = uploads.filter(isActive).length;
  const failed = uploads.filter(({ state }) => state === 'failed');
  const done = uploads.filter(({ state }) => state === 'done').length;
  const paused = uploads.filter(({ state }) => state === 'paused').length;
  const listed = uploads.toSorted((a, b) => RANK[a.state] - RANK[b.state]).slice(0, LISTED);

  return (
    <section className={classes.queue} aria-label={t('Uploads')} data-testid="upload-queue">
      <div className={classes.queueHead}>
        <div className={classes.queueTitle}>
          <strong role="status">{title()}</strong>
          <small data-testid="upload-total">{details()}</small>
        </div>
        {failed.length > 1 && (
          <Button color="gray" size="xxs" onClick={() => failed.map(({ id }) => retryUpload(id))}>
            {t('Retry failed')}
          </Button>
        )}
        {active + paused > 0 ? (
          <Button color="gray" size="xxs" onClick={() => cancelUploads(place)} data-testid="upload-cancel-all">
            {t('Cancel all')}
          </Button>
        ) : (
          <Button color="gray" size="xxs" onClick={() => clearEndedUploads(place)} data-testid="upload-clear">
            {t('Clear')}
          </Button>
        )}
        <IconButton label={folded ? t('Show the files') : t('Hide the files')} onClick={() => setFolded(!folded)}>
          {folded ? <IconChevronDown size={16} /> : <IconChevronUp size={16} />}
        </IconButton>
      </div>
      {active > 0 && <Bar label={t('All uploads')} done={sent} all={total} />}
      {!folded && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        <ul className={classes.queueItems} tabIndex={0} aria-label={t('Files')}>
          {listed.map((upload) => (
            <Item key={upload.id} upload={upload} />
          ))}
          {uploads.length > LISTED && (
            <li className={classes.queueItem}>
              <small>{t('and {{count}} more', { count: uploads.length - LISTED })}</small>
            </li>
          )}
        </ul>
      )}
    </section>
  );

  function title(): string {
    if (active > 0) return t('Uploading: {{done}} of {{all}} done', { done, all: counted.length });
    if (paused > 0) return t('Uploads paused');
    if (failed.length > 0) return t('{{count}} uploads failed', { count: failed.length });
    return done > 0 ? t('{{count}} files uploaded', { count: done }) : t('Uploads canceled');
  }

  function details(): string {
    const bytes = t('{{done}} of {{all}}', { done: formatBytes(sent), all: formatBytes(total) });
    const rate = active > 0 ? uploadRate(place) : 0;
    if (rate < 1) return bytes;
    const left = formatElapsed((total - sent) / rate);
    return `${bytes} · ${t('{{speed}}/s', { speed: formatBytes(rate) })} · ${t('{{time}} left', { time: left })}`;
  }
}

const RANK: Record<Upload['state'], number> = {
  failed: 0,
  sending: 1,
  checking: 1,
  waiting: 2,
  paused: 3,
  canceled: 4,
  done: 5,
};

function Item({ upload }: { upload: Upload }) {
  const t = useT();
  const { id, key, state, sizeBytes, sentBytes, error } = upload;
  const again = state === 'failed' || state === 'canceled';
  return (
    <li className={classes.queueItem} data-testid="upload-row" data-state={state}>
      <div>
        <CutText className={`mono ${classes.key}`}>{key}</CutText>
        <small data-bad={state === 'failed' || undefined}>{words()}</small>
      </div>
      <div className={classes.queueButtons}>
        {isActive(upload) && (
          <IconButton label={t('Pause {{name}}', { name: key })} onClick={() => pauseUpload(id)}>
            <IconPlayerPause size={16} />
          </IconButton>
        )}
        {state === 'paused' && (
          <IconButton label={t('Go on with {{name}}', { name: key })} onClick={() => retryUpload(id)}>
            <IconPlayerPlay size={16} />
          </IconButton>
        )}
        {(isActive(upload) || state === 'paused') && (
          <IconButton label={t('Cancel {{name}}', { name: key })} onClick={() => cancelUpload(id)}>
            <IconX size={16} />
          </IconButton>
        )}
        {again && (
          <IconButton label={t('Retry {{name}}', { name: key })} onClick={() => retryUpload(id)}>
            <IconRefresh size={16} />
          </IconButton>
        )}
        {state === 'done' && <IconCheck size={16} color="var(--ok)" aria-hidden="true" />}
      </div>
      {state === 'sending' && sizeBytes > 0 && <Bar label={key} done={sentBytes} all={sizeBytes} />}
    </li>
  );

  function words(): string {
    switch (state) {
      case 'waiting':
        return `${formatBytes(sizeBytes)} · ${t('waiting')}`;
      case 'checking':
        return t('Comparing with what is stored already');
      case 'sending':
        return t('{{done}} of {{all}}', { done: formatBytes(sentBytes), all: formatBytes(sizeBytes) });
      case 'paused':
        return `${t('{{done}} of {{all}}', { done: formatBytes(sentBytes), all: formatBytes(sizeBytes) })} · ${t('paused')}`;
      case 'done':
        return formatBytes(sizeBytes);
      case 'failed':
        return error ?? '';
      case 'canceled':
        return t('canceled');
    }
  }
}

function Bar({ label, done, all }: { label: string; done: number; all: number }) {
  const percent = all === 0 ? 0 : Math.min(100, Math.round((done / all) * 100));
  return (
    <div
      className={classes.bar}
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <span style={{ width: `${percent}%` }} />
    </div>
  );
}
