// The setting `status_mirror`: a database elsewhere to which Passrail copies the status of every feature. From the user's file only: a
// repository must not decide where titles and verdicts go.

import { z } from "zod";

const name = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/u, "expected a name of letters, digits and underscores, up to 63 characters");
const file = z.string().regex(/^(\/|~\/)/u, "expected a path that begins with / or ~/");
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/u);

export const statusMirrorSchema = z
  .strictObject({
    /** postgres://… writes rows with SQL; https://… is the address of a Supabase project or of a PostgREST. */
    url: z
      .string()
      .min(1)
      .max(2000)
      .refine(hasNoPassword, "an address with a password belongs into url_file or url_env")
      .optional(),
    url_file: file.optional(),
    url_env: variable.optional(),
    /** The key of the REST API. */
    key_file: file.optional(),
    key_env: variable.optional(),
    schema: name.optional(),
    features: name.optional(),
    /** `none`: no rows of handoffs. */
    handoffs: name.optional(),
  })
  .refine(({ url, url_file, url_env }) => [url, url_file, url_env].filter((each) => each !== undefined).length === 1, {
    message: "expected exactly one of url, url_file and url_env",
  });

export type StatusMirrorSettings = {
  readonly url?: string | undefined;
  readonly url_file?: string | undefined;
  readonly url_env?: string | undefined;
  readonly key_file?: string | undefined;
  readonly key_env?: string | undefined;
  readonly schema: string;
  readonly features: string;
  /** Null: none. */
  readonly handoffs: string | null;
};

function hasNoPassword(text: string): boolean {
  return (URL.parse(text)?.password ?? "") === "";
}

export function statusMirrorOf(written: z.infer<typeof statusMirrorSchema> | undefined): StatusMirrorSettings | null {
  if (written === undefined) return null;
  const { schema = "public", features = "features", handoffs = "agent_handoffs", ...address } = written;
  return { ...address, schema, features, handoffs: handoffs === "none" ? null : handoffs };
}
