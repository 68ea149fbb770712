/** One change of the schema. Migrations never change after their release; new ones are added at the end. */
export interface Migration {
  readonly name: string;
  /** The statements for SQLite. */
  readonly sqlite: string;
  /** The statements for PostgreSQL. Processes of the previous release use the new schema until they are replaced. */
  readonly postgres: string;
}
