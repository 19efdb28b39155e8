/** Days tell what was charged on them; how long servers ran is told by their intervals. */
export const sql = `
alter table usage_day drop column micros;
`;
