import { IconBox } from '@tabler/icons-react';
import { useState } from 'react';
import { Button } from '../../../ui/Button.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { SearchBox } from '../../../ui/SearchBox.tsx';
import { DetailSkeleton, PanelSkeleton } from '../../../ui/Skeletons.tsx';
import { FilterMenu } from '../../../ui/table/FilterMenu.tsx';
import { ListBar } from '../../../ui/table/ListBar.tsx';
import { NoMatches } from '../../../ui/table/NoMatches.tsx';
import { StatusFilter } from '../../../ui/table/StatusFilter.tsx';
import { PagerSkeleton, TablePager } from '../../../ui/table/TablePager.tsx';
import { Specimen, Specimens } from '../Specimen.tsx';

/** What stands around a list: the bar over it, the pager below it, and what stands in its place. */
export default function ListSection() {
  return (
    <Specimens>
      <Specimen id="list-bar" title="Search and filters" wide>
        <Bar />
      </Specimen>
      <Specimen id="pager" title="Pager" wide>
        <Pager />
      </Specimen>
      <Specimen id="pager-single" title="Pager of one page">
        <TablePager paging={{ page: 1, limit: 25, totalPages: 1, totalCount: 3 }} onPage={() => {}} />
      </Specimen>
      <Specimen id="pager-skeleton" title="Pager while loading">
        <PagerSkeleton />
      </Specimen>
      <Specimen id="empty-state" title="Nothing yet">
        <EmptyState icon={<IconBox size={20} />} title="No containers yet" action={<Button>Create a container</Button>}>
          Take any image, give it CPUs and ports, and watch its output live.
        </EmptyState>
      </Specimen>
      <Specimen id="no-matches" title="Nothing matches">
        <NoMatches title="No container matches" onClear={() => {}}>
          To see deleted containers, filter by that status.
        </NoMatches>
      </Specimen>
      <Specimen id="error-state" title="Error">
        <ErrorState message="The server cannot be reached" onRetry={() => {}} />
      </Specimen>
      <Specimen id="panel-skeleton" title="A facts panel while loading">
        <div style={{ width: '100%' }}>
          <PanelSkeleton />
        </div>
      </Specimen>
      <Specimen id="detail-skeleton" title="A detail page while loading" wide>
        <div style={{ width: '100%' }}>
          <DetailSkeleton />
        </div>
      </Specimen>
    </Specimens>
  );
}

function Bar() {
  const [search, setSearch] = useState('');
  const [statuses, setStatuses] = useState<string[]>(['online']);
  const [regions, setRegions] = useState<string[]>(['eu', 'us']);
  return (
    <ListBar end={<Button>Rent a server</Button>}>
      <SearchBox value={search} onChange={setSearch} placeholder="Search instances" />
      <StatusFilter statuses={['online', 'stopped', 'error']} value={statuses} onChange={setStatuses} />
      <FilterMenu
        label="Region"
        options={[
          { value: 'eu', label: 'Europe' },
          { value: 'us', label: 'North America' },
          { value: 'ap', label: 'Asia' },
        ]}
        value={regions}
        onChange={setRegions}
      />
    </ListBar>
  );
}

function Pager() {
  const [page, setPage] = useState(3);
  const [limit, setLimit] = useState(25);
  return (
    <div style={{ width: '100%' }} data-testid="pager-live">
      <TablePager
        paging={{ page, limit, totalCount: 312, totalPages: Math.ceil(312 / limit) }}
        onPage={setPage}
        onLimit={(rows) => {
          setLimit(rows);
          setPage(1);
        }}
        waiting={2}
      />
    </div>
  );
}
