import { Skeleton } from '@mantine/core';
import type { StorageObject } from '@stagi/contract/storages.ts';
import { useQuery } from '@tanstack/react-query';
import { parse } from 'papaparse';
import { useEffect, useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { formatBytes } from '../../ui/format.ts';
import classes from '../Objects.module.css';
import type { ObjectSource } from '../objectSource.ts';
import { formattedJson, pictureTypeByName, previewKind, type ReadText, textOf } from './previewKind.ts';

interface Props {
  source: ObjectSource;
  object: StorageObject;
}

/** Of texts and tables only the beginning is read. */
const READ_BYTES = 256 * 1024;
/** A JSON is formatted whole or not at all. */
const READ_JSON_BYTES = 1024 * 1024;
const LARGEST_PICTURE_BYTES = 25 * 1024 * 1024;
const CSV_ROWS = 100;

/** The object, or its beginning, as text, picture or table. Nothing in it runs. */
export function ObjectPreview({ source, object }: Props) {
  const t = useT();
  const kind = previewKind(object.contentType, object.key);
  if (object.sizeBytes === 0) return <p className="muted">{t('This object is empty.')}</p>;
  if (kind === 'none' || (kind === 'image' && object.sizeBytes > LARGEST_PICTURE_BYTES)) return <NoPreview />;
  if (kind === 'image') return <Picture source={source} object={object} />;
  if (kind === 'audio' || kind === 'video') return <Recording source={source} object={object} kind={kind} />;
  return <Words source={source} object={object} kind={kind} />;
}

function NoPreview() {
  const t = useT();
  return <p className="muted">{t('There is no preview of this type. Download it to look inside.')}</p>;
}

/** By the content host, which answers an SVG too without letting it run; without a stored type from its bytes. */
function Picture({ source, object }: Props) {
  const t = useT();
  const type = pictureTypeByName(object.contentType, object.key);
  const [failed, setFailed] = useState(false);
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['object/picture', source.path, source.id, source.part, object.key, object.etag],
    queryFn: async ({ signal }): Promise<string | Blob> => {
      if (type === null || source.readText) return source.previewLink(object.key, signal);
      return new Blob([await readBytes({ source, object }, LARGEST_PICTURE_BYTES, signal)], { type });
    },
    staleTime: 5 * 60_000,
    retry: false,
    meta: { quiet: true },
  });
  const address = useAddress(data);
  if (failed) return <NoPreview />;
  if (error) return <Unreadable onRetry={() => void refetch()} retrying={isFetching} />;
  if (!address) return <Skeleton height={160} />;
  return (
    <img
      src={address}
      alt={t('Preview of {{name}}', { name: object.key })}
      className={classes.picture}
      onError={() => setFailed(true)}
      data-testid="preview-image"
    />
  );
}

/** Played from the content host, which answers ranges. */
function Recording({ source, object, kind }: Props & { kind: 'audio' | 'video' }) {
  const t = useT();
  const [failed, setFailed] = useState(false);
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['object/recording', source.path, source.id, source.part, object.key, object.etag],
    queryFn: ({ signal }) => source.previewLink(object.key, signal),
    staleTime: 5 * 60_000,
    retry: false,
    meta: { quiet: true },
  });
  if (failed) return <NoPreview />;
  if (error) return <Unreadable onRetry={() => void refetch()} retrying={isFetching} />;
  if (!data) return <Skeleton height={kind === 'audio' ? 54 : 160} />;
  const shared = {
    src: data,
    controls: true,
    preload: 'metadata',
    className: classes.picture,
    onError: () => setFailed(true),
    'aria-label': t('Preview of {{name}}', { name: object.key }),
    'data-testid': `preview-${kind}`,
  } as const;
  return kind === 'audio' ? <audio {...shared} /> : <video {...shared} />;
}

function useAddress(data: string | Blob | undefined): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!(data instanceof Blob)) return;
    const made = URL.createObjectURL(data);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data]);
  return typeof data === 'string' ? data : url;
}

function Words({ source, object, kind }: Props & { kind: 'json' | 'csv' | 'text' }) {
  const t = useT();
  const limit = kind === 'json' ? READ_JSON_BYTES : READ_BYTES;
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['object/text', source.path, source.id, source.part, object.key, object.etag],
    queryFn: async ({ signal }) =>
      source.readText
        ? source.readText(object.key, limit, signal)
        : textOf(await readBytes({ source, object }, limit, signal), object.sizeBytes > limit),
    staleTime: 5 * 60_000,
    retry: false,
    meta: { quiet: true },
  });
  if (error) return <Unreadable onRetry={() => void refetch()} retrying={isFetching} />;
  if (data === undefined) return <Skeleton height={160} />;
  if (data === null) return <NoPreview />;
  return (
    <>
      {kind === 'csv' ? (
        <CsvTable read={data} />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        <pre className={classes.preview} tabIndex={0} data-testid="preview-text">
          {kind === 'json' ? formattedJson(data) : data.text}
        </pre>
      )}
      {data.isCut && (
        <p className="muted">
          {t('The first {{size}} of {{all}}.', { size: formatBytes(limit), all: formatBytes(object.sizeBytes) })}
        </p>
      )}
    </>
  );
}

function CsvTable({ read }: { read: ReadText }) {
  const t = useT();
  const { data } = parse<string[]>(read.text, { preview: CSV_ROWS + 1, skipEmptyLines: true });
  // The last row of a cut text may be half a row.
  const whole = read.isCut && data.length <= CSV_ROWS ? data.slice(0, -1) : data;
  const [head = [], ...rows] = whole;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <section className={classes.csv} tabIndex={0} aria-label={t('First rows')} data-testid="preview-csv">
        <table>
          <thead>
            <tr>
              {numbered(head).map(([at, cell]) => (
                <th key={at}>{cell}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {numbered(rows).map(([line, row]) => (
              <tr key={line}>
                {numbered(row).map(([at, cell]) => (
                  <td key={at} title={cell}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {data.length > CSV_ROWS && <p className="muted">{t('The first {{count}} rows.', { count: CSV_ROWS })}</p>}
    </>
  );
}

const numbered = <T,>(list: readonly T[]): (readonly [number, T])[] => list.map((one, at) => [at, one] as const);

function Unreadable(props: { onRetry(): void; retrying: boolean }) {
  const t = useT();
  return <ErrorState {...props} message={t('The file could not be read. Check your connection.')} />;
}

/** Straight from the S3 service, as plain text whatever it is. */
async function readBytes(
  { source, object }: Props,
  most: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const link = await source.link(object.key, { inline: true }, signal);
  const answer = await fetch(link, { headers: { range: `bytes=0-${most - 1}` }, signal });
  if (!answer.ok) throw new Error(`the storage answered with ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}
