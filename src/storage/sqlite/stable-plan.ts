/**
 * The same statement, which SQLite plans only once. Where a plan may depend on the value of a parameter, such as with
 * `ORDER BY` or `LIMIT`, SQLite plans the statement again whenever a value is bound, which takes longer than reading a
 * short page. It plans once if no comparison or limit is a bare parameter; a unary plus changes no value.
 * The setting for this (SQLITE_DBCONFIG_ENABLE_QPSG) cannot be reached from Bun.
 */
export function withStablePlan(sql: string): string {
  return sql.replaceAll(/\$\d+/g, "+$&");
}
