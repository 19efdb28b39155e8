import type { Call, OutputOf } from '@stagi/contract/call.ts';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { z } from 'zod';
import { errorText } from '../api/messages.ts';
import { q } from '../api/query.ts';
import { RightPanel } from '../ui/dialogs/RightPanel.tsx';
import { ErrorState } from '../ui/ErrorState.tsx';
import { PanelSkeleton } from '../ui/Skeletons.tsx';

type ViewCall = Call<z.ZodType<{ id: number }, { id: number }>, z.ZodType>;

interface Props<C extends ViewCall> {
  view: C;
  /** From the address; null: closed. */
  id: number | null;
  onClose(): void;
  title: string;
  testId: string;
  /** How many facts it is going to have, more or less. */
  rows?: number;
  children(answer: OutputOf<C>): ReactNode;
}

/** A panel of one row that is read when it is opened. What it could not read it says itself, the page goes nowhere. */
export function RowPanel<C extends ViewCall>({ view, id, rows, children, ...panel }: Props<C>) {
  return (
    <RightPanel {...panel} of={id}>
      {(opened) => (
        <Row key={opened} view={view} id={opened} rows={rows}>
          {children}
        </Row>
      )}
    </RightPanel>
  );
}

interface RowProps<C extends ViewCall> extends Pick<Props<C>, 'view' | 'rows' | 'children'> {
  id: number;
}

function Row<C extends ViewCall>({ view, id, rows = 8, children }: RowProps<C>) {
  const { data, error, refetch, isFetching } = useQuery(q<ViewCall>(view, { id }, { quiet: true }));
  if (data !== undefined) return children(data as OutputOf<C>);
  if (!error) return <PanelSkeleton rows={rows} />;
  return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
}
