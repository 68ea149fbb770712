/** One step of the schema. Steps are never changed after their release; new ones come at the end. */
export interface Migration {
  readonly name: string;
  /** The statements for SQLite. */
  readonly sqlite: string;
  /** Those for PostgreSQL. Processes of the release before continue with the schema while they are replaced. */
  readonly postgres: string;
}
