// The schema of webhook settings, in and out, in the user's file. src/http/webhooks and src/notify read the secrets and create the sources
// and endpoints.

import { z } from "zod";
import { NAME_PATTERN } from "../core/flow/name.ts";

const name = z.string().regex(/^[a-z][a-z0-9-]{0,47}$/, "expected a-z, 0-9 and dashes, up to 48 characters");
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);
const file = z.string().regex(/^(\/|~\/)/, "expected a path that begins with / or ~/");
/** A path into a delivery: names separated by dots. */
const field = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, "expected names with dots between them");
const stages = z.union([z.literal("any"), z.array(z.string().regex(NAME_PATTERN)).min(1).max(20)]);
const word = z.string().min(1).max(100);

const fits = {
  on: word,
  when: z
    .record(
      field,
      z
        .array(z.union([z.string(), z.number(), z.boolean()]))
        .min(1)
        .max(50),
    )
    .optional(),
  same: z
    .array(z.tuple([field, field]))
    .max(5)
    .optional(),
};
const subject = { subject: field, pick: z.enum(["whole", "ticket-id"]).optional() };
const seen = { url: field.optional(), commit: field.optional() };

const rule = z.discriminatedUnion("do", [
  z.strictObject({
    ...fits,
    ...subject,
    ...seen,
    do: z.literal("answer"),
    stages,
    answer: word,
    comment: field.optional(),
  }),
  z.strictObject({
    ...fits,
    ...subject,
    ...seen,
    do: z.literal("done"),
    stages,
    answer: word.optional(),
    else: z.enum(["refuse", "cancel"]).optional(),
  }),
  z.strictObject({
    ...fits,
    do: z.literal("start"),
    flow: name,
    title: field,
    id: field.optional(),
    body: field.optional(),
    author: field.optional(),
    url: field.optional(),
  }),
]);

const logins = z.array(word).max(1000).optional();

const secret = { secret_file: file.optional(), secret_env: variable.optional() };
const source = {
  rights: z.enum(["request", "operator"]).optional(),
  flow: name.optional(),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9._-]{0,20}$/)
    .optional(),
  authors: logins,
  rules: z.array(rule).max(50).optional(),
};

const oneSecret = (given: { readonly secret_file?: unknown; readonly secret_env?: unknown }): boolean =>
  (given.secret_file === undefined) !== (given.secret_env === undefined);
const ONE_SECRET = "expected secret_file or secret_env, one of them";

export const webhooksSchema = z.record(
  name,
  z
    .discriminatedUnion("kind", [
      z.strictObject({ ...source, kind: z.literal("token") }),
      z.strictObject({ ...source, kind: z.literal("supabase") }),
      z.strictObject({ ...source, ...secret, kind: z.literal("standard") }),
      z.strictObject({ ...source, ...secret, kind: z.literal("github"), label: word.optional(), actors: logins }),
    ])
    .refine((given) => given.kind === "token" || given.kind === "supabase" || oneSecret(given), ONE_SECRET),
);

const endpoint = {
  name,
  /** An address that is itself a secret, like Slack's, can be in a file or a variable. */
  url: z.string().max(2000).optional(),
  url_file: file.optional(),
  url_env: variable.optional(),
  events: z.array(word).max(50).optional(),
  allow_http: z.boolean().optional(),
  allow_private: z.boolean().optional(),
  ca_file: file.optional(),
};

const oneUrl = (given: { readonly url?: unknown; readonly url_file?: unknown; readonly url_env?: unknown }): boolean =>
  [given.url, given.url_file, given.url_env].filter((each) => each !== undefined).length === 1;

export const endpointsSchema = z
  .array(
    z
      .discriminatedUnion("format", [
        z
          .strictObject({
            ...endpoint,
            format: z.literal("standard"),
            secret_file: file.optional(),
            secret_env: variable.optional(),
          })
          .refine(oneSecret, ONE_SECRET),
        z.strictObject({ ...endpoint, format: z.literal("slack") }),
        z.strictObject({
          ...endpoint,
          format: z.literal("ntfy"),
          token_file: file.optional(),
          token_env: variable.optional(),
        }),
      ])
      .refine(oneUrl, "expected url, url_file or url_env, one of them"),
  )
  .max(20)
  .refine(
    (all) => new Set(["command", ...all.map((each) => each.name)]).size === all.length + 1,
    "every endpoint needs a name of its own, and not command",
  );

export type RuleSettings = z.infer<typeof rule>;
export type SourceSettings = z.infer<typeof webhooksSchema>[string];
export type EndpointSettings = z.infer<typeof endpointsSchema>[number];
