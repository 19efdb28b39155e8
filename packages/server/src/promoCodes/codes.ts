import { randomInt } from 'node:crypto';
import { CURRENCY } from '@stagi/contract/brand.ts';
import { type Micro, toDecimal } from '@stagi/contract/money.ts';
import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import { PROMO_STATUSES, type PromoCode, type PromoStatus } from '@stagi/contract/promoCodes.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';
import { invalid, notFound } from '../http/errors.ts';
import { contains, offsetOf, sortColumn } from '../http/paging.ts';

/** Without letters and digits that look alike. */
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';
const GROUPS = 3;
const GROUP = 4;

/** Nearly 60 bits: `K7QM-2XWD-9TRB`. */
function generateCode(): string {
  const group = (): string => Array.from({ length: GROUP }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

export interface NewPromoCode {
  code?: string;
  amount: Micro;
  uses: number;
  expiresAt: Date;
  note: string;
}

export async function createPromoCode(trx: Db, createdBy: number, made: NewPromoCode): Promise<PromoCode> {
  const row = await trx
    .insertInto('promo_code')
    .values({
      code: made.code ?? generateCode(),
      amount: made.amount,
      uses_max: made.uses,
      expires_at: made.expiresAt,
      note: made.note,
      created_by: createdBy,
    })
    .onConflict((conflict) => conflict.column('code').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!row) throw invalid(text('This promo code already exists'), 'code');
  return onePromoCode(trx, row.id);
}

/** Revokes a code; credit that it gave stays. Revoking it again changes nothing. */
export async function revokePromoCode(trx: Db, id: number): Promise<PromoCode> {
  await trx
    .updateTable('promo_code')
    .set({ revoked_at: sql<Date>`now()` })
    .where(sql<boolean>`id = ${id}::bigint`)
    .where('revoked_at', 'is', null)
    .execute();
  return onePromoCode(trx, id);
}

const status = sql<PromoStatus>`case when p.revoked_at is not null then 'revoked' when p.expires_at <= now() then 'expired'
  when p.uses >= p.uses_max then 'used up' else 'open' end`;

const promoCodes = (db: Db) =>
  db
    .selectFrom('promo_code as p')
    .leftJoin('app_user as u', 'u.id', 'p.created_by')
    .select([
      'p.id',
      'p.code',
      'p.amount',
      'p.uses',
      'p.uses_max',
      'p.expires_at',
      'p.note',
      'p.created_by',
      'p.created_at',
      'p.revoked_at',
      'u.name',
      'u.email',
      status.as('status'),
    ]);

async function onePromoCode(db: Db, id: number): Promise<PromoCode> {
  const row = await promoCodes(db).where(sql<boolean>`p.id = ${id}::bigint`).executeTakeFirst();
  if (!row) throw notFound();
  return present(row);
}

export async function listPromoCodes(db: Db, request: EntityFilterRequest) {
  const column = sortColumn(request, {
    createdAt: 'p.id',
    code: 'p.code',
    amount: 'p.amount',
    uses: 'p.uses',
    expiresAt: 'p.expires_at',
  } as const);
  const asked = (request.statuses ?? []).filter((one): one is PromoStatus =>
    (PROMO_STATUSES as readonly string[]).includes(one),
  );
  let rows = promoCodes(db);
  let counted = db.selectFrom('promo_code as p').select(sql<number>`count(*)::int`.as('count'));
  if (request.queryString) {
    rows = rows.where(contains(['p.code', 'p.note'], request.queryString));
    counted = counted.where(contains(['p.code', 'p.note'], request.queryString));
  }
  if (request.statuses?.length) {
    rows = rows.where(sql<boolean>`${status} = any(${asked}::text[])`);
    counted = counted.where(sql<boolean>`${status} = any(${asked}::text[])`);
  }
  const [page, { count }] = await Promise.all([
    rows
      .orderBy(column, request.orderByDirection)
      .orderBy('p.id', request.orderByDirection)
      .limit(request.limit)
      .offset(offsetOf(request))
      .execute(),
    counted.executeTakeFirstOrThrow(),
  ]);
  return { entities: page.map(present), count };
}

type Row = Awaited<ReturnType<ReturnType<typeof promoCodes>['execute']>>[number];

function present(row: Row): PromoCode {
  return {
    id: row.id,
    code: row.code,
    amount: { currency: CURRENCY, decimalValue: toDecimal(row.amount) },
    status: row.status,
    uses: row.uses,
    usesMax: row.uses_max,
    expiresAt: row.expires_at.toISOString(),
    note: row.note,
    createdBy:
      row.created_by === null ? null : { userId: row.created_by, name: row.name ?? '', email: row.email ?? '' },
    createdAt: row.created_at.toISOString(),
    revokedAt: row.revoked_at?.toISOString() ?? null,
  };
}
