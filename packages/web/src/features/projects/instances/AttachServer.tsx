import { api } from '@stagi/contract/api.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import type { Project } from '@stagi/contract/projects.ts';
import type { Verdict } from '@stagi/contract/verdict.ts';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { invalidate } from '../../../api/query.ts';
import { useCall } from '../../../api/useCall.ts';
import { useServers } from '../../../api/useServers.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ActionButton } from '../../../ui/actions.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { toast } from '../../../ui/toasts.ts';
import classes from '../Projects.module.css';

interface Props {
  project: Project;
  /** The ids of the servers that are attached already. */
  attached: readonly number[];
}

/** Attaches one of the servers that the person manages. */
export function AttachServer({ project, attached }: Props) {
  const t = useT();
  const [chosen, setChosen] = useState<number | null>(null);
  const { servers, error } = useServers();
  const { run, loading } = useCall(api.projects.attachInstance, {
    onDone: () => {
      void invalidate('project/');
      toast.success(t('The server is attached'));
      setChosen(null);
    },
  });
  const others = (servers ?? []).filter(({ id }) => !attached.includes(id));
  return (
    <div className={classes.attach}>
      {others.length > 0 && (
        <Select
          aria-label={t('Server')}
          placeholder={t('One of your servers')}
          options={others.map(({ id, title, kind }) => ({
            value: id,
            label: title,
            group: kind === 'rented' ? t('Rented') : t('Self-hosted'),
          }))}
          w={220}
          mayBeEmpty
          value={chosen}
          onChange={(id: number | null) => setChosen(id)}
          data-testid="attach-server"
        />
      )}
      <ActionButton
        tone="primary"
        icon={<IconPlus size={16} />}
        verdict={verdict()}
        loading={loading}
        testId="attach-submit"
        onClick={() => chosen !== null && void run({ projectRef: { id: project.id }, instanceRef: { id: chosen } })}
      >
        {t('Attach')}
      </ActionButton>
    </div>
  );

  function verdict(): Verdict {
    const change = projectCan.change(project);
    if (!change.allowed) return change;
    if (error) return { allowed: false, reason: error };
    if (servers && others.length === 0)
      return {
        allowed: false,
        reason: servers.length === 0 ? t('You manage no server yet') : t('All your servers are attached'),
      };
    return chosen === null ? { allowed: false, reason: t('Choose a server first') } : { allowed: true };
  }
}
