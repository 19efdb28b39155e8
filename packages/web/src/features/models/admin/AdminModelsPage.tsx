import type { CatalogueRow } from '@stagi/contract/adminModels.ts';
import { api } from '@stagi/contract/api.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { IconArrowBackUp, IconBrain, IconEye, IconEyeOff, IconPencil, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { call } from '../../../api/client.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ListPage } from '../../../lists/ListPage.tsx';
import { useList } from '../../../lists/useList.ts';
import { useListState } from '../../../lists/useListState.ts';
import { useRowActions } from '../../../lists/useRowActions.tsx';
import { Button } from '../../../ui/Button.tsx';
import { FilterMenu } from '../../../ui/table/FilterMenu.tsx';
import { EntryDialog } from './EntryDialog.tsx';
import { entriesInput, STATE_FILTER, STATE_WORDS, STATES, statesOf } from './entriesInput.ts';
import { useEntryColumns } from './useEntryColumns.tsx';

/** The catalogue for operators: what they added, changed and hid, and what is as it was shipped. */
export function AdminModelsPage() {
  const t = useT();
  const state = useListState({ filters: [STATE_FILTER] });
  const list = useList(api.adminModels.list, entriesInput(state), state);
  const [edited, setEdited] = useState<CatalogueRow | 'new' | null>(null);
  const columns = useEntryColumns(setEdited);
  const actions = useEntryActions(setEdited);
  const add = (
    <Button icon={<IconPlus size={16} />} onClick={() => setEdited('new')} data-testid="model-add">
      {t('Add a model')}
    </Button>
  );
  return (
    <ListPage
      title={t(ROUTES.adminModels.title)}
      about={t('Models that visitors find. What you add or change needs a source, and counts from the next look on.')}
      create={add}
      list={list}
      search={t('Search models')}
      filters={
        <FilterMenu
          label={t('Status')}
          options={STATES.map((value) => ({ value, label: t(STATE_WORDS[value]) }))}
          value={statesOf(state)}
          onChange={(wanted) => state.setValues(STATE_FILTER, wanted)}
        />
      }
      name="admin-models"
      rowTestId="entry-row"
      columns={columns}
      rowKey={({ modelId }) => modelId}
      rowName={({ title }) => title}
      actions={actions}
      noMatches={{ title: t('No model matches'), text: t('Try other words, or another status.') }}
      empty={{
        icon: <IconBrain size={20} />,
        title: t('No models yet'),
        text: t('This release ships none. What you add appears here.'),
      }}
    >
      <EntryDialog edited={edited} onClose={() => setEdited(null)} />
    </ListPage>
  );
}

function useEntryActions(edit: (row: CatalogueRow) => void) {
  const t = useT();
  return useRowActions<CatalogueRow>(
    [
      { name: 'edit', label: t('Edit'), icon: IconPencil, open: edit },
      {
        name: 'hide',
        label: t('Hide'),
        icon: IconEyeOff,
        shown: ({ state }) => state !== 'hidden',
        perform: ({ modelId }, options) => call(api.adminModels.hide, { modelId }, options),
        confirm: ({ title }) => ({
          title: t('Hide {{title}}?', { title }),
          text: t('Visitors no longer find it in the list, and its page is not found. You can show it again.'),
        }),
        success: ({ title }) => t('{{title}} is hidden', { title }),
      },
      {
        name: 'show',
        label: t('Show'),
        icon: IconEye,
        shown: ({ state }) => state === 'hidden',
        perform: ({ modelId }, options) => call(api.adminModels.show, { modelId }, options),
        success: ({ title }) => t('{{title}} is shown again', { title }),
      },
      {
        name: 'delete',
        label: t('Remove the changes'),
        icon: IconArrowBackUp,
        danger: true,
        shown: ({ state }) => state !== 'shipped',
        perform: ({ modelId }, options) => call(api.adminModels.delete, { modelId }, options),
        confirm: ({ title, isShipped }) => ({
          title: isShipped ? t('Remove the changes of {{title}}?', { title }) : t('Delete {{title}}?', { title }),
          text: isShipped
            ? t('It is as it was shipped again.')
            : t('Operators have added it: nothing of it stays in the catalogue.'),
          lost: [t('What operators entered, with its sources and note')],
        }),
        success: ({ title, isShipped }) =>
          isShipped ? t('{{title}} is as it was shipped', { title }) : t('{{title}} has been deleted', { title }),
      },
    ],
    ['admin/model/', 'model/'],
  );
}
