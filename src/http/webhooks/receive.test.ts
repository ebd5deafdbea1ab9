import { describe, expect, test } from "vitest";
import { createMemoryReplays } from "../../../test/harness/memory-replays.ts";
import { readRawBody, receive } from "./receive.ts";
import { changed, GITHUB_SECRET, gitHub, OLD_SECRET, SECRET, type Sent, standard } from "./signing.testsuite.ts";
import { gitHubSource, standardSource, supabaseSource, type WebhookSource } from "./source.ts";

const NOW = Date.parse("2026-05-01T12:00:00Z");
const APPROVE = JSON.stringify({ type: "feature.approve", data: { feature_id: "F-1", comment: "go" } });
const SHA = "X-Hub-Signature-256";

const ours = standardSource({ name: "dashboard", secrets: [SECRET] });
const forge = gitHubSource({ name: "github", secrets: [GITHUB_SECRET], flow: "ticket" });

function desk(source: WebhookSource) {
  const now = () => NOW;
  const replays = createMemoryReplays({ now });
  return async (sent: Sent) => {
    const received = await receive({ source, ...sent }, { replays, now });
    if (received.code === "accepted") received.claim.keep();
    return received;
  };
}

const labeled = (extra: object = {}) =>
  JSON.stringify({
    action: "labeled",
    label: { name: "passrail" },
    issue: {
      title: "Fix login",
      body: "It fails.",
      user: { login: "ann" },
      html_url: "https://github.com/o/r/issues/1",
    },
    sender: { login: "Maintainer" },
    ...extra,
  });

describe("S17, bad input 84: each wrong delivery gets its code and means nothing", () => {
  const good = standard(APPROVE, { atMs: NOW });
  const goodHook = gitHub(labeled(), { event: "issues" });
  const sixMinutes = 6 * 60 * 1000;

  test.each<[string, WebhookSource, Sent, number, string]>([
    ["missing signature (standard)", ours, changed(good, "webhook-signature", null), 401, "signature_missing"],
    ["missing id (standard)", ours, changed(good, "webhook-id", null), 401, "signature_missing"],
    ["missing signature (GitHub)", forge, changed(goodHook, SHA, null), 401, "signature_missing"],
    [
      "only SHA-1 (GitHub)",
      forge,
      changed(changed(goodHook, SHA, null), "X-Hub-Signature", "sha1=00"),
      401,
      "signature_missing",
    ],
    ["bad base64", ours, changed(good, "webhook-signature", "v1,!!!"), 401, "signature_invalid"],
    ["bad hex", forge, changed(goodHook, SHA, `sha256=${"zz".repeat(32)}`), 401, "signature_invalid"],
    ["short hex", forge, changed(goodHook, SHA, "sha256=00"), 401, "signature_invalid"],
    [
      "other algorithm (standard)",
      ours,
      changed(good, "webhook-signature", good.headers.get("webhook-signature")?.replace("v1,", "v1a,") ?? ""),
      401,
      "signature_invalid",
    ],
    [
      "other algorithm (GitHub)",
      forge,
      changed(goodHook, SHA, goodHook.headers.get(SHA)?.replace("sha256=", "sha512=") ?? ""),
      401,
      "signature_invalid",
    ],
    ["signature of another body", ours, { ...good, rawBody: Buffer.from(`${APPROVE} `) }, 401, "signature_invalid"],
    [
      "signature of another body (GitHub)",
      forge,
      { ...goodHook, rawBody: Buffer.from("{}") },
      401,
      "signature_invalid",
    ],
    ["another id than the signed one", ours, changed(good, "webhook-id", "msg_2"), 401, "signature_invalid"],
    ["timestamp 6 min old", ours, standard(APPROVE, { atMs: NOW - sixMinutes }), 401, "timestamp_out_of_tolerance"],
    ["timestamp 6 min new", ours, standard(APPROVE, { atMs: NOW + sixMinutes }), 401, "timestamp_out_of_tolerance"],
    [
      "timestamp that only begins with digits",
      ours,
      changed(good, "webhook-timestamp", `${NOW / 1000}abc`),
      401,
      "timestamp_out_of_tolerance",
    ],
    ["unknown event", ours, standard('{"type":"x.y"}', { atMs: NOW }), 202, "ignored_event"],
    ["unknown event (GitHub)", forge, gitHub("{}", { event: "watch" }), 202, "ignored_event"],
    ["ping (GitHub)", forge, gitHub('{"zen":"x"}', { event: "ping" }), 202, "ignored_event"],
    ["2 MiB body", ours, standard("x".repeat(2 * 1024 * 1024), { atMs: NOW }), 413, "body_too_large"],
    ["valid signature, invalid JSON", ours, standard('{"type":', { atMs: NOW }), 400, "invalid_json"],
    [
      "valid signature, invalid JSON (GitHub)",
      forge,
      gitHub("payload=%7B%7D", { event: "issues" }),
      400,
      "invalid_json",
    ],
    ["valid signature, a list", ours, standard("[]", { atMs: NOW }), 400, "body_must_be_object"],
    [
      "the event without what it needs",
      ours,
      standard('{"type":"feature.approve","data":{}}', { atMs: NOW }),
      400,
      "invalid_payload",
    ],
    ["no delivery id (GitHub)", forge, changed(goodHook, "x-github-delivery", null), 400, "invalid_delivery_id"],
    [
      "six signatures",
      ours,
      standard(APPROVE, { atMs: NOW, secrets: Array(6).fill(SECRET) }),
      401,
      "signature_invalid",
    ],
  ])("%s", async (_, source, sent, status, code) => {
    expect(await desk(source)(sent)).toMatchObject({ status, code, intent: { type: "ignored" } });
  });

  test("replayed id: the first counts, every other is a duplicate without effect", async () => {
    const take = desk(ours);
    expect(await take(good)).toMatchObject({ status: 202, code: "accepted" });
    expect(await take(good)).toEqual({
      status: 200,
      code: "duplicate",
      intent: { type: "ignored", reason: "taken before" },
    });
    const signedAgain = standard(APPROVE, { atMs: NOW + 60_000 });
    expect(await take(signedAgain)).toMatchObject({ status: 200, code: "duplicate" });
  });

  test("a recorded body of GitHub does not count again under another delivery id", async () => {
    const take = desk(forge);
    expect(await take(goodHook)).toMatchObject({ code: "accepted" });
    expect(await take(changed(goodHook, "x-github-delivery", "other"))).toMatchObject({
      status: 200,
      code: "duplicate",
    });
  });
});

describe("fail closed", () => {
  test.each([
    ["no secret", []],
    ["an empty one", [""]],
    ["one that is too short", [`whsec_${Buffer.alloc(8).toString("base64")}`]],
    ["one without its prefix", [Buffer.alloc(32, 7).toString("base64")]],
  ])("a source with %s is disabled, also for a delivery that would fit", async (_, secrets) => {
    const take = desk(standardSource({ name: "dashboard", secrets }));
    expect(await take(standard(APPROVE, { atMs: NOW }))).toMatchObject({ status: 503, code: "webhook_disabled" });
  });

  test("a weak secret of GitHub disables its source", async () => {
    const take = desk(gitHubSource({ name: "github", secrets: ["short"] }));
    const sent = gitHub(labeled(), { event: "issues", secret: "short" });
    expect(await take(sent)).toMatchObject({ status: 503, code: "webhook_disabled" });
  });
});

describe("rotation", () => {
  const both = standardSource({ name: "dashboard", secrets: [SECRET, OLD_SECRET] });

  test.each([
    ["the new secret", [SECRET]],
    ["the old secret", [OLD_SECRET]],
    ["both", [OLD_SECRET, SECRET]],
  ])("S17: while a secret is replaced, deliveries signed with %s count", async (_, secrets) => {
    expect(await desk(both)(standard(APPROVE, { atMs: NOW, secrets }))).toMatchObject({ code: "accepted" });
  });

  test("a sender that signs with both is understood by a receiver that knows one", async () => {
    const sent = standard(APPROVE, { atMs: NOW, secrets: [OLD_SECRET, SECRET] });
    expect(await desk(ours)(sent)).toMatchObject({ code: "accepted" });
  });
});

test("bytes that are not UTF-8 are checked as they came and then refused", async () => {
  // The library would sign and compare the replacement character; we must not.
  const sent = standard('{"type":"\ufffd"}', { atMs: NOW });
  const other = { ...sent, rawBody: Buffer.from([...Buffer.from('{"type":"'), 0xff, ...Buffer.from('"}')]) };
  expect(await desk(ours)(other)).toMatchObject({ status: 401, code: "signature_invalid" });
});

test("GitHub's own example of a signature is accepted", async () => {
  // docs.github.com, "Validating webhook deliveries": secret, payload and signature.
  const headers = new Headers({
    "x-github-event": "issues",
    "x-github-delivery": "1",
    "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
  });
  const received = await desk(forge)({ headers, rawBody: Buffer.from("Hello, World!") });
  expect(received).toMatchObject({ status: 400, code: "invalid_json" });
});

test("R-000-25: the same delivery id twice at the same time is one start", async () => {
  const now = () => NOW;
  const replays = createMemoryReplays({ now });
  const sent = standard(APPROVE, { atMs: NOW });
  const codes = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const received = await receive({ source: ours, ...sent }, { replays, now });
      if (received.code === "accepted") setImmediate(received.claim.keep);
      return received.code;
    }),
  );
  expect(codes.filter((code) => code === "accepted")).toHaveLength(1);
  expect(codes.filter((code) => code === "duplicate")).toHaveLength(49);
});

test("a delivery whose effect failed counts when it comes again", async () => {
  const now = () => NOW;
  const replays = createMemoryReplays({ now });
  const sent = standard(APPROVE, { atMs: NOW });
  const first = await receive({ source: ours, ...sent }, { replays, now });
  if (first.code === "accepted") first.claim.release();
  const again = await receive({ source: ours, ...sent }, { replays, now });
  expect(again).toMatchObject({ code: "accepted", signalId: "webhook:dashboard:msg_1" });
});

test("only listed actors of a source count", async () => {
  const take = desk(gitHubSource({ name: "github", flow: "ticket", secrets: [GITHUB_SECRET], actors: ["maintainer"] }));
  expect(await take(gitHub(labeled(), { event: "issues" }))).toMatchObject({ code: "accepted" });
  const stranger = labeled({ sender: { login: "stranger" } });
  expect(await take(gitHub(stranger, { event: "issues", id: "2" }))).toMatchObject({ code: "ignored_event" });
  const nobody = labeled({ sender: null });
  expect(await take(gitHub(nobody, { event: "issues", id: "3" }))).toMatchObject({ code: "ignored_event" });
});

describe("readRawBody", () => {
  const endless = (onCancel: () => void) =>
    new ReadableStream<Uint8Array>({ pull: (to) => to.enqueue(new Uint8Array(64 * 1024)), cancel: onCancel });

  test("an endless body without a length is refused at the limit and not read further", async () => {
    let isCanceled = false;
    const body = endless(() => (isCanceled = true));
    const read = await readRawBody({ body, headers: new Headers() });
    expect(read).toMatchObject({ refused: { status: 413, code: "body_too_large" } });
    expect(isCanceled).toBe(true);
  });

  test("an announced length above the limit is refused before a byte is read", async () => {
    const body = endless(() => {});
    const read = await readRawBody({ body, headers: new Headers({ "content-length": "1048577" }) });
    expect(read).toMatchObject({ refused: { status: 413 } });
    expect(body.locked).toBe(false);
  });

  test("bytes come through unchanged", async () => {
    const request = new Request("http://x.test", { method: "POST", body: Buffer.from([0, 255, 10]) });
    const read = await readRawBody(request);
    expect("body" in read && [...read.body]).toEqual([0, 255, 10]);
  });
});

test("Supabase: each change of a row is a delivery, a second try of it is not, and no change counts without the key", async () => {
  const board = supabaseSource({
    name: "board",
    flow: "feature",
    prefix: "S-",
    rights: "operator",
    isKey: (token) => token === "key",
  });
  const take = desk(board);
  const row = (id: string, at: string) => ({ id, title: "Add login", status: "approved", updated_at: at });
  const send = (payload: object, key = "Bearer key") =>
    take({ headers: new Headers({ authorization: key }), rawBody: Buffer.from(JSON.stringify(payload)) });
  const update = (id: string, at: string, before = "pending") => ({
    type: "UPDATE",
    table: "features",
    schema: "public",
    record: row(id, at),
    old_record: { ...row(id, "before"), status: before },
  });
  const first = await send(update("F-1", "1"));
  expect(first).toMatchObject({
    code: "accepted",
    intent: { type: "answer-gate", answer: "approve", subjectId: "F-1", stages: ["start"] },
  });
  expect(await send(update("F-1", "1"))).toMatchObject({ status: 200, code: "duplicate" });
  const later = await send(update("F-1", "2"));
  expect(later).toMatchObject({ code: "accepted" });
  if (first.code === "accepted" && later.code === "accepted") expect(later.signalId).not.toBe(first.signalId);
  expect(await send(update("F-2", "1"))).toMatchObject({ code: "accepted", intent: { subjectId: "F-2" } });
  expect(await send(update("F-1", "3", "approved"))).toMatchObject({ code: "ignored_event" });
  expect(await send({ type: "INSERT", table: "features", record: { id: 7, title: "New" } })).toMatchObject({
    code: "accepted",
    intent: { type: "create-ticket", flow: "feature", id: "S-7", title: "New" },
  });
  expect(await send({ type: "DELETE", table: "other" })).toMatchObject({ code: "ignored_event" });
  expect(await send(update("F-9", "1"), "Bearer wrong")).toMatchObject({ status: 401, code: "auth_invalid" });
});
