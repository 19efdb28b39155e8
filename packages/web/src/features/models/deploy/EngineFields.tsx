import type { EngineTemplate } from '@stagi/contract/engineTemplates.ts';
import type { Model } from '@stagi/contract/models.ts';
import type { Quality } from '@stagi/perf/quality.ts';
import type { CallForm } from '../../../api/useCallForm.ts';
import { useT } from '../../../i18n/i18n.ts';
import { NumberInput } from '../../../ui/form/NumberInput.tsx';
import { RadioGroup } from '../../../ui/form/RadioGroup.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { QUALITY_BITS, qualityLabel } from '../modelWords.ts';
import {
  type DeployValues,
  filesFor,
  servedQualities,
  suggestedPort,
  suggestedTemplate,
  templatesFor,
} from './deployForm.ts';

interface Props {
  model: Model;
  call: CallForm<DeployValues>;
  template: EngineTemplate | undefined;
}

/** Quality, engine, file and context: what the other fields follow from. */
export function EngineFields({ model, call, template }: Props) {
  const t = useT();
  const { form, field } = call;
  const { quality } = form.values;
  const variants = template ? filesFor(model.entry, quality, template).filter(({ variant }) => variant !== null) : [];

  function choose(next: EngineTemplate | undefined, changed: Partial<DeployValues> = {}): void {
    form.setValues({
      ...changed,
      template: next?.name ?? '',
      variant: '',
      dockerImage: '',
      command: '',
      ...(next && { port: suggestedPort(next) }),
    });
  }

  return (
    <>
      <RadioGroup
        label={t('Quality')}
        inline
        variant="filled"
        {...field('quality')}
        value={quality}
        onChange={(next: Quality) => {
          const kept = template && templatesFor(model, next).includes(template) ? template : undefined;
          choose(kept ?? suggestedTemplate(model, next, null), { quality: next });
        }}
        options={servedQualities(model).map((value) => ({
          value,
          label: qualityLabel(t, value),
          description: t(QUALITY_BITS[value]),
        }))}
      />
      <RadioGroup
        label={t('Engine')}
        variant="filled"
        {...field('template')}
        value={form.values.template}
        onChange={(name: string) => choose(templatesFor(model, quality).find((one) => one.name === name))}
        options={templatesFor(model, quality).map(({ name, title, description }) => ({
          value: name,
          label: t(title),
          description: t(description),
        }))}
      />
      {variants.length > 1 && (
        <Select
          label={t('File')}
          description={t('Several files of this quality are published.')}
          options={variants.map(({ variant, repository }) => ({
            value: variant!,
            label: `${variant} · ${repository}`,
          }))}
          {...field('variant')}
          value={form.values.variant || variants[0]!.variant}
        />
      )}
      {model.contextLength !== null && (
        <NumberInput
          label={t('Context')}
          description={t('Tokens of a prompt and its answer together. A longer one takes more memory.')}
          allowDecimal={false}
          clampBehavior="none"
          step={1024}
          {...field('context')}
        />
      )}
    </>
  );
}
