import { Anchor, Radio, Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { needsOf, suitsServer } from '@stagi/contract/containerTemplates.ts';
import { text } from '@stagi/contract/text.ts';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { invalidate } from '../../../api/query.ts';
import { useCall } from '../../../api/useCall.ts';
import type { Server } from '../../../api/useServers.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/ConfirmDialog.tsx';
import { IconButton } from '../../../ui/IconButton.tsx';
import { Note } from '../../../ui/Note.tsx';
import { toast } from '../../../ui/toasts.ts';
import classes from './TemplatePicker.module.css';
import { type Template, type TemplateChoice, templateKey } from './useTemplate.ts';

interface Props {
  choice: TemplateChoice;
  servers: readonly Server[];
  /** The one that is chosen in the form. */
  server: Server | undefined;
}

const SCRATCH = '';

/** What a new container begins with: nothing, a template of the workspace, or one of the platform. */
export function TemplatePicker({ choice, servers, server }: Props) {
  const t = useT();
  const [doomed, setDoomed] = useState<(Template & { id: number }) | null>(null);
  const remove = useCall(api.containerTemplates.delete, {
    onDone: (_, { id }) => {
      if (choice.wanted === String(id)) choice.choose(null);
      void invalidate('docker-container/template/');
      setDoomed(null);
      toast.success(t('The template has been deleted'));
    },
  });
  const { templates, wanted, chosen } = choice;
  const isLost = templates !== undefined && wanted !== null && chosen === null;
  return (
    <>
      {choice.error && !templates ? (
        <Note
          tone="warn"
          title={t('The templates could not be loaded')}
          action={
            <Button color="gray" size="xs" onClick={choice.retry}>
              {t('Try again')}
            </Button>
          }
        >
          {choice.error}
        </Note>
      ) : (
        <div role="radiogroup" aria-label={t('Template')} className={classes.cards} data-testid="template-cards">
          <Card
            name={SCRATCH}
            title={t('Start from scratch')}
            description={t('Any image, with nothing filled in')}
            checked={chosen === null}
            onChoose={() => choice.choose(null)}
          />
          {templates?.map((template) => {
            const key = templateKey(template);
            const reason = whyNot(template, servers, server);
            return (
              <Card
                key={key}
                name={key}
                title={'id' in template ? template.title : t(template.title)}
                description={'id' in template ? template.description : t(template.description)}
                note={reason === null ? 'id' in template && t('of this workspace') : t(reason)}
                disabled={reason !== null && chosen !== template}
                checked={chosen === template}
                onChoose={() => choice.choose(key)}
                onDelete={'id' in template ? () => setDoomed(template) : undefined}
              />
            );
          })}
          {!templates && ['one', 'two', 'three'].map((each) => <Skeleton key={each} height={86} />)}
        </div>
      )}
      {isLost && <Note tone="warn" title={t('This template no longer exists')} />}
      {chosen && 'source' in chosen && (
        <p className={classes.source}>
          {t('Its image is made by others:')}{' '}
          <Anchor href={chosen.source} target="_blank" rel="noreferrer" fz="inherit" underline="always">
            {t('its documentation')}
          </Anchor>
        </p>
      )}
      <ConfirmDialog
        opened={doomed !== null}
        onClose={() => setDoomed(null)}
        title={t('Delete the template “{{title}}”?', { title: doomed?.title ?? '' })}
        variant="error"
        confirmLabel={t('Delete')}
        loading={remove.loading}
        onConfirm={() => doomed && void remove.run({ id: doomed.id })}
      >
        {t('Nobody of this workspace can use it any more. Containers that were made from it stay.')}
      </ConfirmDialog>
    </>
  );
}

interface CardProps {
  name: string;
  title: string;
  description: string | null;
  note?: string | false;
  checked: boolean;
  disabled?: boolean;
  onChoose(): void;
  onDelete?(): void;
}

function Card({ name, title, description, note, checked, disabled, onChoose, onDelete }: CardProps) {
  const t = useT();
  return (
    <div className={classes.card} data-deletable={onDelete ? true : undefined}>
      <Radio
        name="template"
        value={name}
        checked={checked}
        disabled={disabled}
        onChange={onChoose}
        label={title}
        description={
          <>
            {description && <span className={classes.about}>{description}</span>}
            {note && <span className={classes.about}>{note}</span>}
          </>
        }
        classNames={{ labelWrapper: classes.label, description: classes.hint }}
        data-testid={`template-${name === SCRATCH ? 'scratch' : name}`}
      />
      {onDelete && (
        <span className={classes.delete}>
          <IconButton label={t('Delete the template')} color="danger" onClick={onDelete}>
            <IconTrash size={14} />
          </IconButton>
        </span>
      )}
    </div>
  );
}

const NO_SERVER = text('None of your servers suits it');

/** Why a template cannot be chosen: on the chosen server, or else on any. Servers that have not reported may suit. */
function whyNot(template: Template, servers: readonly Server[], server: Server | undefined): string | null {
  const needs = needsOf(template);
  if (server) {
    const verdict = server.facts ? suitsServer(needs, server.facts) : null;
    return verdict && !verdict.allowed ? verdict.reason : null;
  }
  const suits = servers.some(({ facts }) => facts === null || suitsServer(needs, facts).allowed);
  return suits ? null : NO_SERVER;
}

/** What is wrong with the server that is chosen for the chosen template. */
export function TemplateOnServer({ choice, servers, server }: Props) {
  const t = useT();
  const reason = choice.chosen && server ? whyNot(choice.chosen, servers, server) : null;
  if (!choice.chosen || reason === null) return null;
  return (
    <Note tone="warn" title={t(reason)}>
      {t('“{{title}}” will probably not run on this server.', { title: choice.chosen.title })}
    </Note>
  );
}
