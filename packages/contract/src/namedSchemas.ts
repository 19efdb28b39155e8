import type { z } from 'zod';
import { AdminModel, CatalogueRow } from './adminModels.ts';
import { Container } from './containers.ts';
import { ContainerTemplate, TemplateFields } from './containerTemplates.ts';
import { ErrorBodySchema } from './errorBody.ts';
import { Cpu, Disk, Gpu, Offer } from './hardware.ts';
import { Activity, Instance, MachineFacts, SelfHostedInstance } from './instances.ts';
import { Model, ModelCard } from './models.ts';
import { EntityFilterRequest, Named, SuccessResponse } from './page.ts';
import { Money, Price } from './price.ts';
import { Storage, StorageKey } from './storages.ts';
import { TaskSchedule } from './taskSchedules.ts';
import { Task, TaskDetail, TaskRun } from './tasks.ts';
import { WrittenElement, WrittenNode } from './writtenText.ts';

/** Shapes that several calls have in common: the API description has each once and refers to it. */
export const NAMED_SCHEMAS = {
  Activity,
  AdminModel,
  CatalogueRow,
  Container,
  ContainerTemplate,
  Cpu,
  Disk,
  EntityFilterRequest,
  ErrorBody: ErrorBodySchema,
  Gpu,
  Instance,
  MachineFacts,
  Model,
  ModelCard,
  Money,
  Named,
  Offer,
  Price,
  SelfHostedInstance,
  Storage,
  StorageKey,
  SuccessResponse,
  Task,
  TaskDetail,
  TaskRun,
  TaskSchedule,
  TemplateFields,
  WrittenElement,
  WrittenNode,
} satisfies Record<string, z.ZodType>;
