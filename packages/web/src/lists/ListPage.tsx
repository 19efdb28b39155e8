import type { ReactNode } from 'react';
import { PageHeader } from '../ui/PageHeader.tsx';
import { ListTable, type ListTableProps } from './ListTable.tsx';

interface Props<Row> extends Omit<ListTableProps<Row>, 'label'> {
  title: string;
  /** One line under the title. */
  about?: ReactNode;
  /** The label of the table, where it is not the page's title. */
  label?: string;
  /** The button that makes another: in the header, or in the empty list. */
  create?: ReactNode;
  /** In the header in place of `create`. */
  headerActions?: ReactNode;
  /** Between the header and the list: tabs, notes. */
  above?: ReactNode;
  /** Behind the list: dialogs, panels. */
  children?: ReactNode;
}

/** A page that is a list. */
export function ListPage<Row>({ title, about, create, headerActions, above, children, list, ...table }: Props<Row>) {
  return (
    <>
      <PageHeader title={title} actions={headerActions ?? (!list.isEmpty && create)}>
        {about}
      </PageHeader>
      {above}
      <ListTable label={title} {...table} list={list} empty={table.empty && { action: create, ...table.empty }} />
      {children}
    </>
  );
}
