import { z } from 'zod';
import { type WrittenNode as Node, WRITTEN_TAGS } from './writtenTags.ts';

export const WrittenElement = z.object({
  tag: z.enum(WRITTEN_TAGS),
  id: z.string().optional(),
  href: z.string().optional(),
  label: z.string().optional(),
  kind: z.string().optional(),
  language: z.string().optional(),
  isUnset: z.literal(true).optional(),
  get children(): z.ZodOptional<z.ZodArray<z.ZodType<Node>>> {
    return z.array(WrittenNode).optional();
  },
});

/** A part of a written text: see `writtenTags.ts`. */
export const WrittenNode: z.ZodType<Node> = z.union([z.string(), WrittenElement]);
