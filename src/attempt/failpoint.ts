// Named places between "persisted" and "performed" at which a test can end the process as a power cut would. PASSRAIL_FAILPOINT=name or
// name:3 (the third time). Without it a fail-point does nothing.

export const FAILPOINTS = [
  "run-committed",
  "start-committed",
  "carrier-noted",
  "carrier-started",
  "workspace-opened",
  "prompt-written",
  "spawned",
  "process-noted",
  "attempt-ended",
  "report-read",
  "stage-work-committed",
  "check-started",
  "check-ended",
  "work-undone",
  "stage-workspace-closed",
  "track-joined",
  "outward-intended",
  "outward-done",
  "outward-seen",
  "finish-committed",
  "answer-committed",
  "notify-sent",
  "workspace-released",
  "interrupt-committed",
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

const [armed, nth] = (process.env["PASSRAIL_FAILPOINT"] ?? "").split(":");
let hits = 0;

export function failpoint(name: Failpoint): void {
  if (armed !== name) return;
  hits += 1;
  if (hits === Number(nth ?? 1)) process.kill(process.pid, "SIGKILL");
}
