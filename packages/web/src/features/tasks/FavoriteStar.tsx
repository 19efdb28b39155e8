import { api } from '@stagi/contract/api.ts';
import type { Task } from '@stagi/contract/tasks.ts';
import { IconStar, IconStarFilled } from '@tabler/icons-react';
import { useState } from 'react';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { IconButton } from '../../ui/IconButton.tsx';

/** Marks a task as a favourite of one's own, or takes the mark away. */
export function FavoriteStar({ task: { id, title, favorite } }: { task: Pick<Task, 'id' | 'title' | 'favorite'> }) {
  const t = useT();
  // What was asked for is shown at once, and until lists and pages have been read again.
  const [asked, setAsked] = useState<boolean | null>(null);
  const { run } = useCall(api.tasks.favorite);
  const shown = asked ?? favorite;

  async function toggle(): Promise<void> {
    setAsked(!shown);
    if (await run({ id, favorite: !shown })) await invalidate('task/list', 'task/view');
    setAsked(null);
  }

  return (
    <IconButton
      size="xxxs"
      label={shown ? t('Remove from favourites') : t('Add to favourites')}
      aria-label={t('Favourite: {{title}}', { title })}
      aria-pressed={shown}
      onClick={() => void toggle()}
      data-testid="task-favorite"
    >
      {shown ? <IconStarFilled size={16} color="var(--accent)" /> : <IconStar size={16} />}
    </IconButton>
  );
}
