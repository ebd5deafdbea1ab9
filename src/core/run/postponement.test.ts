import { expect, test } from "vitest";
import { postponement } from "./postponement.ts";

const AT = "2026-01-01T12:00:00.000Z";
const waits = (cause: string, times: number, kind: "outages" | "crashes" = "outages") =>
  postponement(cause, { outages: 0, crashes: 0, [kind]: times }, AT, undefined);

test("only failures outside of the work are put off", () => {
  for (const cause of ["rate_limit", "quota", "server_error", "unreachable", "startup_timeout", "agent_crashed"])
    expect(postponement(cause, undefined, AT, undefined)).toMatchObject({ retry: 1 });
  const others = [
    "auth",
    "request_refused",
    "turn_limit",
    "budget",
    "denied",
    "verdict_missing",
    "idle_timeout",
    "timeout",
  ];
  for (const cause of [...others, "agent_exit_nonzero", "toString", undefined])
    expect(postponement(cause, undefined, AT, undefined)).toBeUndefined();
});

test("waits grow from a quarter of a minute and end with the retries", () => {
  const until = [0, 1, 2, 3, 4].map((times) => waits("rate_limit", times)?.until.slice(11, 19));
  expect(until).toEqual(["12:00:15", "12:00:30", "12:01:00", "12:02:00", "12:04:00"]);
  expect(waits("rate_limit", 5)).toBeUndefined();
  expect(waits("agent_crashed", 1, "crashes")).toMatchObject({ retry: 2, of: 2 });
  expect(waits("startup_timeout", 2, "crashes")).toBeUndefined();
});

test("outages and crashes are counted each by themselves, so that alternating does not go on for ever", () => {
  const first = postponement("quota", { outages: 4, crashes: 2 }, AT, undefined);
  expect(first).toMatchObject({ retry: 5, of: 5, times: { outages: 5, crashes: 2 } });
  expect(postponement("quota", first?.times, AT, undefined)).toBeUndefined();
  expect(postponement("agent_crashed", first?.times, AT, undefined)).toBeUndefined();
});

test("the end of a limit counts where it was told and lies ahead, for eight days at most", () => {
  const until = (resetsAt: string) => postponement("quota", undefined, AT, resetsAt)?.until;
  expect(until("2026-01-01T15:04:05Z")).toBe("2026-01-01T15:04:05.000Z");
  expect(until("2026-01-01T17:04:05+02:00")).toBe("2026-01-01T15:04:05.000Z");
  expect(until("2036-01-01T00:00:00Z")).toBe("2026-01-09T12:00:00.000Z");
  for (const odd of ["2026-01-01T11:59:59Z", AT, "tomorrow", ""]) expect(until(odd)).toBe("2026-01-01T12:00:15.000Z");
});
