export const SERVER_MESSAGES: readonly string[] = [];
