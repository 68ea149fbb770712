/** One change of the schema. Migrations never change after their release; new ones are added at the end. */
export interface Migration {
  readonly name: string;
  /** The statements for SQLite. */
  readonly sqlite: string;
  /** Those for PostgreSQL. Processes of the release before continue with the schema while they are replaced. */
  readonly postgres: string;
}
