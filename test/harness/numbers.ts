/** The start of an SQL statement that reads the numbers from `first` to `last` as the column `n` of `numbers`. */
export const numbers = (last: number, first = 1): string =>
  `WITH RECURSIVE numbers (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})`;
