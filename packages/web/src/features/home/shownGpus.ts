/** GPUs of the catalogue that the home page names, from small to large. */
export const SHOWN_GPUS = [
  { id: 'rtx-4090', name: 'RTX 4090', memoryGb: 24 },
  { id: 'l40s', name: 'L40S', memoryGb: 48 },
  { id: 'h100-sxm', name: 'H100', memoryGb: 80 },
  { id: 'h200-sxm', name: 'H200', memoryGb: 141 },
] as const;
