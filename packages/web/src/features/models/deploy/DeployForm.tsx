import { Group, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { ENGINE_TEMPLATES, fillIn } from '@stagi/contract/engineTemplates.ts';
import type { Offer } from '@stagi/contract/hardware.ts';
import type { Model } from '@stagi/contract/models.ts';
import type { Gpu } from '@stagi/perf/catalogue.ts';
import { useMemo } from 'react';
import { Link, useNavigate } from 'react-router';
import { invalidate } from '../../../api/query.ts';
import { type CallForm, useCallForm } from '../../../api/useCallForm.ts';
import type { Server } from '../../../api/useServers.ts';
import type { SshKeySelectSlot } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { FormSection } from '../../../launchForm/FormSection.tsx';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { PasswordInput } from '../../../ui/form/PasswordInput.tsx';
import { Note } from '../../../ui/Note.tsx';
import { TitleAndSlug } from '../../../ui/TitleAndSlug.tsx';
import { toast } from '../../../ui/toasts.ts';
import { useModelChoice } from '../useModelChoice.ts';
import { ContainerSettings } from './ContainerSettings.tsx';
import { type DeployValues, fieldOf, filesFor, initialValues, toInput } from './deployForm.ts';
import { EngineFields } from './EngineFields.tsx';
import { fittingOffers, type Wanted } from './serverFit.ts';
import { WhereFields } from './WhereFields.tsx';

interface Props {
  model: Model;
  servers: readonly Server[];
  gpus: readonly Gpu[];
  /** Null: this person may not rent. */
  offers: readonly Offer[] | null;
  SshKeySelect: SshKeySelectSlot;
}

const DEFAULT_CONTEXT = 8192;

export function DeployForm({ model, servers, gpus, offers, SshKeySelect }: Props) {
  const t = useT();
  const navigate = useNavigate();
  const { choice } = useModelChoice(model);
  const call: CallForm<DeployValues> = useCallForm<typeof api.modelEndpoints.deploy, DeployValues>(
    api.modelEndpoints.deploy,
    {
      initialValues: initialValues(model, choice),
      toInput: (values) => toInput(model, values, offer),
      fieldOf,
      onDone: () => {
        toast.success(t('The model is being deployed'));
        void invalidate(
          'model/endpoint/',
          'docker-container/',
          'instance-rented/',
          'self-hosted-instance/',
          'billing/',
        );
        void navigate(paths.model(model.name, model.id));
      },
    },
  );
  const { form, field, submit, loading } = call;
  const { values } = form;
  const template = ENGINE_TEMPLATES.find(({ name }) => name === values.template);
  const { quality, variant } = values;
  const file = useMemo(
    () => template && filesFor(model.entry, quality, template).find((one) => variant === '' || one.variant === variant),
    [model, quality, template, variant],
  );
  const context = Number(values.context) || DEFAULT_CONTEXT;
  const wanted = useMemo<Wanted | null>(
    () => (template && file ? { model: model.entry, file, template, context } : null),
    [model, file, template, context],
  );
  const fitting = useMemo(
    () => (offers === null || !wanted ? offers : fittingOffers(gpus, offers, wanted)),
    [gpus, offers, wanted],
  );
  /** The cheapest, unless another one has been picked that still fits. */
  const offer: Offer | undefined = fitting?.find(({ offerId }) => offerId === values.offerId) ?? fitting?.[0];
  const command =
    template?.command && file
      ? fillIn(template.command, { repository: file.repository, variant: file.variant, context, gpus: 1 })
      : null;

  return (
    <Form id="deploy" onSubmit={submit}>
      <Stack gap={24}>
        <FormSection title={t('What')}>
          <EngineFields model={model} call={call} template={template} />
        </FormSection>
        <FormSection title={t('Where')}>
          <WhereFields
            call={call}
            servers={servers}
            gpus={gpus}
            offers={fitting}
            offer={offer}
            wanted={wanted}
            SshKeySelect={SshKeySelect}
          />
        </FormSection>
        <FormSection title={t('Name and access')}>
          <TitleAndSlug
            titleLabel={t('Name')}
            title={field('title')}
            slug={field('slug')}
            slugHint={t('Letters, digits and hyphens; one of its kind on the whole platform')}
          />
          {template?.tokenVariable && (
            <PasswordInput
              label={t('Token of the hub')}
              optional
              description={t('For weights behind a licence. It is kept encrypted and never shown again.')}
              autoComplete="off"
              {...field('token')}
            />
          )}
          {template && template.keyVariable === null && (
            <Note tone="warn">{t('The API of this engine has no key: whoever opens a public port may use it.')}</Note>
          )}
        </FormSection>
        <ContainerSettings call={call} template={template} command={command} />
        <Group gap={8}>
          <Button type="submit" loading={loading} data-testid="deploy-submit">
            {values.where === 'rent' ? t('Rent and deploy') : t('Deploy')}
          </Button>
          <Button color="gray" component={Link} to={paths.model(model.name, model.id)}>
            {t('Cancel')}
          </Button>
        </Group>
      </Stack>
    </Form>
  );
}
