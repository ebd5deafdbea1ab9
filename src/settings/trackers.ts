// The setting `trackers`: issue trackers that tickets come from. From the user's file only: a repository must not decide where a key goes,
// nor which issues move.

import { z } from "zod";
import { TRACKED_PHASES } from "../core/ticket/tracked.ts";

const file = z.string().regex(/^(\/|~\/)/u, "expected a path that begins with / or ~/");
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/u);
const name = z.string().min(1).max(100);
const states = z.partialRecord(z.enum(TRACKED_PHASES), name.or(z.literal(false))).optional();
const site = z.string().refine(isSafe, "expected an https address");
const key = { key_file: file.optional(), key_env: variable.optional() };

export const trackersSchema = z
  .array(
    z.union([
      z.strictObject({ github: z.string().regex(/^[A-Za-z0-9._-]{1,100}\/[A-Za-z0-9._-]{1,100}$/u), states }),
      z.strictObject({
        linear: z.string().regex(/^[A-Z][A-Z0-9]{0,9}$/u),
        /** Another address than Linear's own. */
        site: site.optional(),
        ...key,
        states,
      }),
      z.strictObject({
        jira: z.string().regex(/^[A-Z][A-Z0-9_]{1,20}$/u),
        site,
        user: z.string().min(3).max(200),
        ...key,
        states,
      }),
    ]),
  )
  .max(20);

export type TrackerSettings = z.infer<typeof trackersSchema>[number];

function isSafe(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  const isNear = url.hostname === "127.0.0.1" || url.hostname === "localhost";
  return url.protocol === "https:" || (url.protocol === "http:" && isNear);
}
