// Problems on the wire: RFC 9457 with a stable code. One table gives every code its status and title; the code that refuses adds detail,
// hint and pointer.

import { z } from "zod";
import { handoffRowSchema } from "./schemas/handoff-row.ts";

export const PROBLEMS = {
  auth_required: [401, "A token is needed"],
  auth_invalid: [401, "The token is not valid"],
  scope_missing: [403, "The token may not do this"],
  host_not_allowed: [403, "The Host header is not allowed"],
  origin_not_allowed: [403, "Requests from this origin are not allowed"],
  too_many_logins: [429, "Too many attempts to log in"],
  bad_request_path: [400, "The path cannot be read"],
  route_not_found: [404, "There is nothing at this path"],
  method_not_allowed: [405, "The method is not allowed here"],
  uri_too_long: [414, "The URL is too long"],
  headers_too_large: [431, "The headers are too large"],
  bad_request: [400, "The request cannot be read"],
  request_timeout: [408, "The request came too slowly"],
  upgrade_refused: [426, "This server speaks plain HTTP/1.1 only"],
  unsupported_media_type: [415, "The content type is not allowed"],
  body_not_allowed: [400, "This request takes no body"],
  body_too_large: [413, "The body is too large"],
  body_must_be_object: [400, "The body must be a JSON object"],
  invalid_json: [400, "The body is not JSON"],
  unknown_field: [422, "A field is not known"],
  invalid_field: [422, "A field is not valid"],
  invalid_title: [422, "The title is not valid"],
  invalid_id: [400, "The id is not valid"],
  invalid_query: [400, "A query parameter is not valid"],
  invalid_cursor: [400, "The cursor is not valid"],
  invalid_idempotency_key: [400, "The Idempotency-Key is not valid"],
  invalid_last_event_id: [400, "The id of the last event is not valid"],
  too_many_streams: [503, "Too many event streams are open"],
  idempotency_key_reused: [422, "The Idempotency-Key was used for another request"],
  idempotency_key_spent: [409, "The request with this Idempotency-Key was sent before"],
  invalid_version: [400, "The If-Match header is not valid"],
  version_required: [428, "The version that was looked at is needed"],
  version_mismatch: [412, "It has changed since it was looked at"],
  run_not_found: [404, "There is no such run"],
  export_refused: [409, "The run cannot be exported"],
  attempt_not_found: [404, "There is no such attempt"],
  file_not_found: [404, "The attempt has no such file"],
  ticket_not_found: [404, "There is no such ticket"],
  ticket_refused: [422, "The ticket cannot be like this"],
  ticket_conflict: [409, "The ticket's file has changed since it was looked at"],
  no_ticket_folder: [409, "This daemon keeps no tickets"],
  hold_not_found: [404, "Nothing holds this runner"],
  key_not_found: [404, "There is no such key"],
  session_not_found: [404, "There is no such session"],
  too_many_keys: [409, "There are too many keys"],
  item_not_found: [404, "There is no such inbox item"],
  flow_not_found: [404, "There is no such flow"],
  unknown_flow: [422, "There is no such flow"],
  flow_invalid: [422, "The flow has errors"],
  project_not_found: [404, "There is no such project"],
  project_refused: [422, "The project cannot be registered like this"],
  run_refused: [422, "The run cannot be started like this"],
  run_ended: [409, "The run has ended"],
  action_refused: [409, "The run is not in a state for this"],
  gate_not_waiting: [409, "The gate is not waiting"],
  item_not_waiting: [409, "The item is not waiting"],
  answer_unknown: [422, "This answer is not offered"],
  answer_empty: [422, "The answer is empty"],
  amount_invalid: [422, "The amount is not valid"],
  reason_required: [422, "A reason is needed"],
  reason_too_long: [422, "The reason is too long"],
  settings_changed: [409, "The settings have changed since they were looked at"],
  settings_refused: [422, "The settings cannot be like this"],
  trust_changed: [409, "The files have changed since they were looked at"],
  trust_refused: [422, "The project's files cannot be approved like this"],
  webhook_disabled: [503, "This webhook has no usable secret"],
  signature_missing: [401, "A signature is needed"],
  signature_invalid: [401, "The signature does not fit"],
  timestamp_out_of_tolerance: [401, "The time of the delivery is too far from now"],
  invalid_delivery_id: [400, "The id of the delivery is not valid"],
  invalid_payload: [400, "The delivery lacks what its event needs"],
  too_many_deliveries: [429, "Too many deliveries"],
  feature_not_found: [404, "There is no such feature"],
  delivery_not_found: [404, "There is no such delivery"],
  delivery_running: [409, "The delivery is being sent"],
  endpoint_not_found: [404, "There is no such endpoint"],
  endpoint_disabled: [409, "The endpoint is disabled"],
  invalid_request: [400, "The request is not as it should be"],
  unknown_agent: [400, "There is no such agent"],
  invalid_transition: [400, "Invalid transition"],
  story_not_found: [404, "There is no such story"],
  handoff_not_found: [404, "There is no such handoff"],
  handoff_exists: [409, "Such a handoff is pending already"],
  handoff_not_open: [409, "The handoff is not open any more"],
  out_of_turn: [409, "It is not this agent's turn"],
  played_by_program: [409, "A program plays this agent"],
  story_active: [409, "The story is running already"],
  payload_too_large: [413, "The payload is too large"],
  payload_refused: [422, "The payload contradicts passing the work on"],
  findings_unanswered: [422, "The review does not answer for the open findings"],
  verdict_invalid: [422, "The verdict cannot be taken"],
  too_many_calls: [429, "Too many calls at the same time"],
  worker_version: [409, "The worker is of another version"],
  worker_name_taken: [409, "Another worker has this name"],
  worker_not_found: [404, "There is no such worker"],
  label_not_allowed: [403, "The key is not made for this label"],
  claim_lost: [409, "The claim is no longer good"],
  commits_refused: [422, "The commits cannot be sent"],
  node_starting: [503, "The node has just started"],
  no_workers: [409, "This process takes no workers"],
  store_unavailable: [503, "The store cannot be used now"],
  internal_error: [500, "Something went wrong on our side"],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

export type ProblemCode = keyof typeof PROBLEMS;

const changeSchema = z.object({
  type: z.string(),
  at: z.string(),
  stage: z.string().optional(),
  seq: z.int().optional(),
});

export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    /** Stable; programs may depend on it. */
    code: z.string(),
    /** The failure and its subject. */
    detail: z.string(),
    /** JSON Pointer into the body, or the name of a parameter. */
    pointer: z.string().optional(),
    /** The next step for the user. */
    hint: z.string().optional(),
    requestId: z.string(),
    /** The current version, and the changes since the given one. */
    current: z.string().optional(),
    changed: z.array(changeSchema).optional(),
    /** The decision that came first. */
    decided: z.object({ answer: z.string(), text: z.string(), by: z.string(), at: z.string() }).optional(),
    /** The current state of the conflicting handoff. */
    handoff: handoffRowSchema.optional(),
    /** A copy of the detail, where the clients of a source look for it. */
    error: z.string().optional(),
  })
  .meta({ id: "Problem" });

export type ProblemDocument = z.infer<typeof problemSchema>;

/** A refusal that is not yet bound to a request. */
export type Refusal = {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly pointer?: string;
  readonly hint?: string;
  readonly current?: string;
  readonly changed?: ProblemDocument["changed"];
  readonly decided?: ProblemDocument["decided"];
  readonly handoff?: ProblemDocument["handoff"];
  readonly error?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export const PROBLEM_TYPE = "application/problem+json";

export function problemDocument({ headers: _headers, ...refusal }: Refusal, requestId: string): ProblemDocument {
  const [status, title] = PROBLEMS[refusal.code];
  return { type: `urn:passrail:problem:${refusal.code}`, title, status, ...refusal, requestId };
}

export function statusOf({ code }: Pick<Refusal, "code">): number {
  return PROBLEMS[code][0];
}
