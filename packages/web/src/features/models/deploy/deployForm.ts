import { ENGINE_TEMPLATES, type EngineTemplate, serves } from '@stagi/contract/engineTemplates.ts';
import type { Offer } from '@stagi/contract/hardware.ts';
import type { Model } from '@stagi/contract/models.ts';
import { filesOf, type PublishedFile, type Quality } from '@stagi/perf/quality.ts';
import type { ModelChoice } from '../modelChoice.ts';

export interface DeployValues {
  where: 'server' | 'rent';
  instanceRef: string;
  /** Empty: the cheapest that fits. */
  offerId: string;
  sshKeyId: string;
  quality: Quality;
  template: string;
  /** Of several GGUF files of the quality. */
  variant: string;
  title: string;
  slug: string;
  token: string;
  context: number | string;
  cpus: number | string;
  memoryGb: number | string;
  gpuCount: number | string;
  port: number | string;
  visibility: 'private' | 'public';
  dockerImage: string;
  command: string;
  evenIfItDoesNotFit: boolean;
}

const SLUG_MAX = 40;
const PORTS = { least: 1000, most: 9999, usual: 8000 };

/** The engines that serve a quality of a model. */
export const templatesFor = ({ entry }: Model, quality: Quality): EngineTemplate[] =>
  ENGINE_TEMPLATES.filter((template) => filesFor(entry, quality, template).length > 0);

/** The files of a quality that an engine serves. */
export const filesFor = (entry: Model['entry'], quality: Quality, template: EngineTemplate): PublishedFile[] =>
  filesOf(entry).filter((file) => file.quality === quality && serves(template, entry.task, file));

/** Qualities that some engine serves. */
export const servedQualities = (model: Model): Quality[] =>
  model.qualities.filter((quality) => templatesFor(model, quality).length > 0);

/** The engine of the formulas that was chosen on the page, else the first that serves the quality. */
export const suggestedTemplate = (
  model: Model,
  quality: Quality,
  engine: ModelChoice['engine'],
): EngineTemplate | undefined => {
  const all = templatesFor(model, quality);
  return all.find(({ perf }) => engine !== null && perf === engine) ?? all[0];
};

/** Host ports have four digits. */
export const suggestedPort = ({ port }: EngineTemplate): number =>
  port >= PORTS.least && port <= PORTS.most ? port : PORTS.usual;

export function initialValues(model: Model, choice: ModelChoice): DeployValues {
  const qualities = servedQualities(model);
  const quality = qualities.includes(choice.quality) ? choice.quality : (qualities.at(-1) ?? choice.quality);
  const template = suggestedTemplate(model, quality, choice.engine);
  return {
    where: 'server',
    instanceRef: '',
    offerId: '',
    sshKeyId: '',
    quality,
    template: template?.name ?? '',
    variant: '',
    title: model.title,
    slug: model.name.replaceAll('.', '-').slice(0, SLUG_MAX).replace(/-+$/, ''),
    token: '',
    context: choice.context,
    cpus: 4,
    memoryGb: '',
    gpuCount: '',
    port: template ? suggestedPort(template) : PORTS.usual,
    visibility: 'private',
    dockerImage: '',
    command: '',
    evenIfItDoesNotFit: false,
  };
}

/** The call's input. What is left empty is left out. */
export function toInput(model: Model, values: DeployValues, offer: Offer | undefined) {
  const number = (value: number | string) => (value === '' ? undefined : Number(value));
  const { title, slug } = values;
  return {
    modelRef: { id: model.id },
    quality: values.quality,
    template: values.template,
    title,
    slug,
    cpus: number(values.cpus),
    memoryGb: number(values.memoryGb),
    gpuCount: number(values.gpuCount),
    port: number(values.port),
    visibility: values.visibility,
    context: model.contextLength === null ? undefined : number(values.context),
    evenIfItDoesNotFit: values.evenIfItDoesNotFit,
    ...(values.variant !== '' && { variant: values.variant }),
    ...(values.dockerImage.trim() !== '' && { dockerImage: values.dockerImage }),
    ...(values.command.trim() !== '' && { command: values.command }),
    ...(values.token.trim() !== '' && { token: values.token }),
    ...(values.where === 'server'
      ? { instanceRef: values.instanceRef === '' ? undefined : { id: Number(values.instanceRef) } }
      : {
          rent: {
            offerId: offer?.offerId ?? '',
            title,
            slug: `${slug.slice(0, SLUG_MAX - '-server'.length).replace(/-+$/, '')}-server`,
            sshKeyId: values.sshKeyId === '' ? undefined : Number(values.sshKeyId),
            maxPricePerHour: offer?.pricePerHour.STAGI.decimalValue,
          },
        }),
  };
}

/** Refusals of the rent are about fields of this form. */
export function fieldOf(path: string): string {
  if (path === 'rent.maxPricePerHour' || path === 'rent.offerId' || path === 'rent') return 'offerId';
  return path.startsWith('rent.') ? path.slice('rent.'.length) : path;
}
