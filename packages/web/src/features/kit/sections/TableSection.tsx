import type { Verdict } from '@stagi/contract/verdict.ts';
import { IconPlayerStop, IconServerBolt, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { type Action, ActionMenu } from '../../../ui/actions.tsx';
import { Button } from '../../../ui/Button.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { StatusBadge } from '../../../ui/StatusBadge.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import { DataTable } from '../../../ui/table/DataTable.tsx';
import { NameCell } from '../../../ui/table/NameCell.tsx';
import { NoMatches } from '../../../ui/table/NoMatches.tsx';
import type { BulkAction, Column, Sort } from '../../../ui/table/tableTypes.ts';
import { Specimen, Specimens } from '../Specimen.tsx';

interface Machine {
  id: number;
  title: string;
  status: string;
  cores: number;
  rentedAt: string;
}

const STATUSES = ['online', 'stopped', 'creating', 'error'];
const MACHINES: readonly Machine[] = Array.from({ length: 34 }, (_, index) => ({
  id: index + 1,
  title: `Machine ${String(index + 1).padStart(2, '0')}`,
  status: STATUSES[index % STATUSES.length] ?? 'online',
  cores: ((index * 7) % 16) + 1,
  rentedAt: new Date(Date.UTC(2026, 2, 1 + index, 9, 30)).toISOString(),
}));

const COLUMNS: readonly Column<Machine>[] = [
  {
    key: 'title',
    title: 'Name',
    sortBy: 'title',
    cell: ({ id, title }) => <NameCell title={title} slug={`machine-${id}`} />,
  },
  { key: 'status', title: 'Status', sortBy: 'status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    key: 'cores',
    title: 'Cores',
    sortBy: 'cores',
    align: 'right',
    cell: ({ cores }) => <span className="mono">{cores}</span>,
  },
  {
    key: 'rentedAt',
    title: 'Rented',
    sortBy: 'rentedAt',
    align: 'right',
    cell: ({ rentedAt: at }) => <DateTime at={at} />,
  },
  { key: 'id', title: 'Number', align: 'right', extra: true, cell: ({ id }) => <span className="mono">{id}</span> },
];

/** The table with all it can do, and each state it may be in. */
export default function TableSection() {
  return (
    <Specimens>
      <Specimen id="table-full" title="Sort, selection, columns, row menu, pages, live updates" wide>
        <Full />
      </Specimen>
      <Specimen id="table-loading" title="Loading" wide>
        <DataTable {...still} rows={undefined} onPage={() => {}} empty={null} />
      </Specimen>
      <Specimen id="table-stale" title="Fetching another page" wide>
        <DataTable {...still} rows={MACHINES.slice(0, 3)} stale empty={null} />
      </Specimen>
      <Specimen id="table-empty" title="Nothing yet" wide>
        <DataTable
          {...still}
          rows={[]}
          empty={
            <EmptyState
              icon={<IconServerBolt size={20} />}
              title="No servers rented yet"
              action={<Button>Rent a server</Button>}
            >
              Choose one in the marketplace: it is ready in about 2 minutes and billed while it runs.
            </EmptyState>
          }
        />
      </Specimen>
      <Specimen id="table-no-match" title="Nothing matches the filters" wide>
        <DataTable {...still} rows={[]} empty={<NoMatches title="No instance matches" onClear={() => {}} />} />
      </Specimen>
      <Specimen id="table-error" title="Could not be loaded" wide>
        <DataTable {...still} rows={undefined} error="The server cannot be reached" onRetry={() => {}} empty={null} />
      </Specimen>
    </Specimens>
  );
}

const still = { label: 'Machines', columns: COLUMNS, rowKey: ({ id }: Machine) => id };

function Full() {
  const [machines, setMachines] = useState(MACHINES);
  const [sort, setSort] = useState<Sort>({ field: 'title', direction: 'asc' });
  const [page, setPage] = useState(1);
  const [limit, setLimit] = useState(10);
  const [said, setSaid] = useState('');
  const ordered = [...machines].sort(byField(sort));

  const stop = (rows: readonly Machine[]) => {
    setMachines(machines.map((one) => (rows.includes(one) ? { ...one, status: 'stopped' } : one)));
    setSaid(`stopped ${rows.map(({ id }) => id).join(' ')}`);
  };
  const remove = (rows: readonly Machine[]) => setMachines(machines.filter((one) => !rows.includes(one)));
  const bulk: BulkAction<Machine>[] = [
    { label: 'Stop', icon: <IconPlayerStop size={14} />, testId: 'bulk-stop', verdict: mayStop, onClick: stop },
    {
      label: 'Delete',
      icon: <IconTrash size={14} />,
      testId: 'bulk-delete',
      danger: true,
      verdict: () => YES,
      onClick: remove,
    },
  ];
  const actionsOf = (machine: Machine): Action[] => [
    { label: 'Stop', verdict: mayStop(machine), testId: 'action-stop', onClick: () => stop([machine]) },
    { label: 'Delete', danger: true, onClick: () => remove([machine]) },
  ];

  return (
    <div style={{ width: '100%' }}>
      <p>
        <output data-testid="table-said">{said}</output>
      </p>
      <DataTable
        label="Machines of the gallery"
        name="kit"
        columns={COLUMNS}
        rows={ordered.slice((page - 1) * limit, page * limit)}
        listKey={`${page} ${limit} ${sort.field} ${sort.direction}`}
        rowKey={({ id }) => id}
        rowTestId="machine-row"
        rowName={({ title }) => title}
        rowLink={({ id }, cell) => <a href={`#machine-${id}`}>{cell}</a>}
        rowActions={(machine) => <ActionMenu label={`Actions for ${machine.title}`} actions={actionsOf(machine)} />}
        bulk={bulk}
        sort={sort}
        onSort={setSort}
        paging={{ page, limit, totalCount: machines.length, totalPages: Math.ceil(machines.length / limit) }}
        onPage={setPage}
        onLimit={(rows) => {
          setLimit(rows);
          setPage(1);
        }}
        empty={null}
      />
      {/* Pressed by keyboard while the pointer rests on the rows, as changes from elsewhere arrive. */}
      <Button color="gray" mt={12} onClick={() => setMachines(changed(machines))}>
        Change from elsewhere
      </Button>
    </div>
  );
}

const YES: Verdict = { allowed: true };

function mayStop({ status }: Machine): Verdict {
  return status === 'online' ? YES : { allowed: false, reason: 'Only a running instance can be stopped' };
}

/** One comes that sorts first, the second leaves, the third changes. */
function changed(machines: readonly Machine[]): Machine[] {
  const [first, , third, ...others] = [...machines].sort(byField({ field: 'title', direction: 'asc' }));
  const id = Math.max(...machines.map((machine) => machine.id)) + 1;
  const come: Machine = {
    id,
    title: 'A new machine',
    status: 'creating',
    cores: 1,
    rentedAt: '2026-05-01T00:00:00.000Z',
  };
  return [come, first, third && { ...third, status: 'rebooting' }, ...others].filter((one) => one !== undefined);
}

function byField({ field, direction }: Sort) {
  const of = (machine: Machine): string | number => machine[field as keyof Machine];
  const sign = direction === 'asc' ? 1 : -1;
  return (a: Machine, b: Machine) => (of(a) < of(b) ? -sign : of(a) > of(b) ? sign : a.id - b.id);
}
