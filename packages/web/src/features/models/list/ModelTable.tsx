import type { ModelCard } from '@stagi/contract/models.ts';
import { Link } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { CutText } from '../../../ui/CutText.tsx';
import { DataTable } from '../../../ui/table/DataTable.tsx';
import type { Column, Sort } from '../../../ui/table/tableTypes.ts';
import { formatContext, formatRelease, licenceName, parametersText, TASK_WORDS } from '../modelWords.ts';
import { Qualities } from './ModelCards.tsx';
import classes from './Models.module.css';

interface Props {
  models: readonly ModelCard[] | undefined;
  listKey: string;
  stale: boolean;
  sort: Sort;
  onSort(sort: Sort): void;
}

export function ModelTable({ models, ...table }: Props) {
  const t = useT();
  return (
    <DataTable
      {...table}
      label={t('Models')}
      name="models"
      rows={models}
      columns={columns()}
      rowKey={({ id }) => id}
      rowTestId="model-row"
      rowLink={(model, cell) => <Link to={paths.model(model.name, model.id)}>{cell}</Link>}
      empty={null}
    />
  );

  function columns(): Column<ModelCard>[] {
    return [
      {
        key: 'name',
        title: t('Model'),
        sortBy: 'name',
        cell: ({ title, publisher }) => (
          <span className={classes.name}>
            <CutText>{title}</CutText>
            <span className={classes.by}>{publisher}</span>
          </span>
        ),
      },
      { key: 'task', title: t('Task'), cell: ({ task }) => t(TASK_WORDS[task]) },
      {
        key: 'parameters',
        title: t('Parameters'),
        sortBy: 'parameters',
        align: 'right',
        cell: ({ parameters }) => <span className="mono">{parametersText(t, parameters)}</span>,
      },
      {
        key: 'context',
        title: t('Context'),
        sortBy: 'contextLength',
        align: 'right',
        cell: ({ contextLength }) => contextLength && <span className="mono">{formatContext(contextLength)}</span>,
      },
      { key: 'licence', title: t('Licence'), cell: ({ licence }) => licence && licenceName(licence) },
      { key: 'qualities', title: t('Quality'), cell: ({ qualities }) => <Qualities of={qualities} /> },
      {
        key: 'released',
        title: t('Released'),
        sortBy: 'releasedAt',
        align: 'right',
        cell: ({ releasedAt }) => releasedAt && <span className="mono">{formatRelease(releasedAt)}</span>,
      },
    ];
  }
}
