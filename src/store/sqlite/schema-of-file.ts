// The schema version of a file, read without changing it.

import { DatabaseSync } from "node:sqlite";
import { explainError } from "./errors.ts";
import { requireKnownSchema } from "./migrations.ts";

export function schemaOfFile(file: string): number {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  try {
    return requireKnownSchema(db, file);
  } catch (error) {
    throw explainError(error, file);
  } finally {
    db.close();
  }
}
