import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { formatNumber } from '../../ui/format.ts';
import classes from './PriceRows.module.css';
import { readPublic } from './readPublic.ts';
import { SHOWN_GPUS } from './shownGpus.ts';

/** The models of the catalogue that fit one GPU of each kind, without prices. */
export function ModelsByGpu() {
  const t = useT();
  // One query for all: they are shown together, and a first page does without the code of several.
  const { data, error } = useQuery({
    queryKey: [api.models.list.path, 'by GPU'],
    queryFn: ({ signal }) => Promise.all(SHOWN_GPUS.map((gpu) => read(gpu, signal))),
    meta: { quiet: true },
  });
  // Rendered in slices, as the prices are.
  const rows = useDeferredValue(data);
  if (error && !data) return <p className={classes.none}>{t('The models could not be loaded')}</p>;
  // The panel has the room for them.
  if (!rows) return null;
  return (
    <table className={classes.table} data-testid="home-models">
      <caption>{t('Models of the catalogue that fit one GPU')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('GPU')}</th>
          <th scope="col" className={classes.number}>
            {t('Models')}
          </th>
          <th scope="col">{t('The largest')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, name, memoryGb, count, largest }) => (
          <tr key={id} className={classes.low}>
            <th scope="row">
              {name} <span className={classes.memory}>{memoryGb} GB</span>
            </th>
            <td className={classes.number}>
              <Link to={`${paths.models()}?gpu=${id}`}>{formatNumber(count, 0)}</Link>
            </td>
            <td>
              {largest && (
                <Link className={classes.model} to={paths.model(largest.name, largest.id)}>
                  {largest.title}
                </Link>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

async function read(gpu: (typeof SHOWN_GPUS)[number], signal: AbortSignal) {
  const { totalCount, entities } = await readPublic<typeof api.models.list>(
    api.models.list,
    {
      filters: { gpu: gpu.id },
      entityFilterRequest: { orderByField: 'parameters', orderByDirection: 'desc', limit: 1 },
    },
    signal,
  );
  return { ...gpu, count: totalCount, largest: entities[0] };
}
