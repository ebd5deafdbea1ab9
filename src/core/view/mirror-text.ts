// How far a status mirror is, in a line.

export type ShownMirror = {
  readonly to: string | null;
  readonly state: "in-step" | "copying" | "behind";
  readonly events: number;
  readonly behindSince: string | null;
  readonly reason: string | null;
};

/** `age` shows how long ago a time was. */
export function mirrorText(mirror: ShownMirror, age: (at: string) => string): string {
  const { to, state, behindSince, reason } = mirror;
  const events = mirror.events === 1 ? "1 event" : `${mirror.events} events`;
  const where = to ?? "not started yet";
  if (state === "in-step") return `${where}: in step`;
  if (behindSince === null) return `${where}: ${events} to write`;
  return `${where}: behind since ${age(behindSince)}, ${events}: ${reason ?? ""}`;
}
