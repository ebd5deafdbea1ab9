// The port of every way to notify a person. A notice may fail; a run never waits for it.

export type Notice = {
  /** Empty if it is about a file or a ticket without a run. */
  readonly runId: string;
  readonly to: string;
  /** gate, question, choice, escalation, stopped, completed, merge, blocked, file, trust, report, or a flow's own word. */
  readonly event: string;
  readonly text: string;
  /** The inbox item it is about: `<run>.<number>`; null if it needs no answer. */
  readonly item: string | null;
  /** The same for a notice that is passed on again because a crash came before its record; absent if it never is. */
  readonly key?: string;
};

export interface Notifier {
  /** False when it could not be delivered. */
  notify(notice: Notice): Promise<boolean>;
}
