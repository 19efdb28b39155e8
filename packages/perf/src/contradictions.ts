import type { CatalogueModel } from './catalogue.ts';
import { shapeOf } from './shape.ts';

export interface Contradiction {
  kind: 'active parameters' | 'KV heads' | 'active experts' | 'too few parameters';
  /** The field that is likely wrong. */
  field: string;
}

/** Numbers of an entry that cannot all be right, such as a total with three zeros too few. */
export function contradictionOf(model: CatalogueModel): Contradiction | null {
  const { parameters, heads, kvHeads, experts, activeExperts } = model;
  if (parameters.active && parameters.active > parameters.total)
    return { kind: 'active parameters', field: 'parameters.active' };
  if (heads && kvHeads && kvHeads > heads) return { kind: 'KV heads', field: 'kvHeads' };
  if (activeExperts && activeExperts > (experts ?? 0)) return { kind: 'active experts', field: 'activeExperts' };
  const shape = shapeOf(model);
  if (shape && shape.denseParameters === 0) return { kind: 'too few parameters', field: 'parameters.total' };
  return null;
}
