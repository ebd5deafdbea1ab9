// Turns what the driver throws into a StoreError where the machine is the reason (unreachable, refused, full, busy). Anything else is a bug
// or a bad change and stays what it is. Messages name the database without its password.

import { messageOf } from "../../core/result.ts";
import { StoreError } from "../store.ts";

/** Whether the connection broke, so that the outcome of the last statement is unknown. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  // 57P01…: the server goes down or comes up. 08: the connection. Without a code: the driver noticed it.
  if (code !== undefined) return /^(57P0[1-5]|08...|E[A-Z_]+)$/u.test(code) && code !== "EREFUSED";
  return error instanceof Error && LOST.test(error.message);
}

/** The driver's messages without a code. */
const LOST =
  /Connection terminated|Client has encountered a connection error|Query read timeout|timeout exceeded when trying to connect|connection timeout|server closed the connection|closed unexpectedly/iu;

export function explainError(error: unknown, shown: string): unknown {
  if (error instanceof StoreError) return error;
  const code = codeOf(error);
  const detail = code === undefined ? messageOf(error) : `${messageOf(error)}, ${code}`;
  const storeError = (...[name, message, hint]: [StoreError["code"], string, string]) =>
    new StoreError(name, `${message} (${detail}).`, hint, { cause: error });
  if (code !== undefined && CERTIFICATE.test(code))
    return storeError(
      "database_refused",
      `The certificate of ${shown} cannot be verified`,
      "Add sslrootcert=FILE with its authority's certificate to the address; sslmode=require encrypts without verifying",
    );
  if (isLost(error))
    return storeError(
      "store_io",
      `The database ${shown} cannot be reached`,
      "Check that it runs and that its address is right: passrail doctor",
    );
  if (code === undefined)
    return /SSL|TLS/u.test(detail) || /SASL|password/u.test(detail)
      ? storeError("database_refused", `The database ${shown} refuses the connection`, REFUSED)
      : error;
  if (code.startsWith("28") || code === "3D000")
    return storeError("database_refused", `The database ${shown} refuses the connection`, REFUSED);
  if (code === "42501")
    return storeError(
      "database_refused",
      `The user of ${shown} lacks a right`,
      "Let the user that made the schema passrail use it, or grant: CREATE ON DATABASE",
    );
  if (code === "53100")
    return storeError(
      "disk_full",
      `No space left for ${shown}`,
      "Free some space. Nothing is lost, and writing resumes automatically.",
    );
  if (/^(53|55|57|40)/u.test(code))
    return storeError(
      "store_busy",
      `The database ${shown} is busy`,
      "It is tried again; look for sessions that hold locks if it stays.",
    );
  if (/^(58|XX)/u.test(code)) return storeError("store_io", `The database ${shown} failed`, "Look into its log.");
  return error;
}

const REFUSED = "Check user, password, database and sslmode of its address.";
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/u;

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
