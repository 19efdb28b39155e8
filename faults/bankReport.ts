import type { BankPlan, BankReport } from './bank/run.ts';

/** Prints the report and returns its failures. */
export function reportBank(plan: BankPlan, report: BankReport): string[] {
  const { kills, databaseKills, insideTransaction, journals, orders, sentAgain, drift, duplicates, problems } = report;
  console.log(
    `bank: ${kills} tellers and ${databaseKills} databases killed, ${insideTransaction} within a transaction; ` +
      `${orders} orders, ${sentAgain} sent again, ${journals} journals; drift ${drift} micro-units, ${duplicates} duplicate effects`,
  );
  return [
    ...(kills === plan.kills && databaseKills === plan.databaseKills ? [] : ['not everybody was killed who should be']),
    ...(journals > 0 && orders > kills ? [] : ['hardly anything was booked']),
    ...(insideTransaction > 0 ? [] : ['no kill came within a transaction']),
    ...(sentAgain > 0 ? [] : ['no order was ever sent again']),
    ...(drift === 0n ? [] : [`the accounts are off by ${drift} micro-units`]),
    ...(duplicates === 0 ? [] : [`${duplicates} effects too many or too few`]),
    ...problems,
  ];
}
