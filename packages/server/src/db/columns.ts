import type { ColumnType } from 'kysely';

export type Json<T> = ColumnType<T, string, string>;
export type JsonWithDefault<T> = ColumnType<T, string | undefined, string>;
export type Created = ColumnType<Date, Date | string | undefined, never>;
