// A bare remote whose hook does as a file says: it waits, refuses, breaks off after it has accepted, or takes everything at once.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Repositories } from "../ticket-land/repositories.ts";
import { until } from "../../harness/until.ts";

export type RemoteBehaviour = "accepts" | "slow" | "refuses" | "breaks";

export type SlowRemote = {
  /** How it takes pushes from now on. `slow` and `breaks` wait for `letGo`. */
  behave(behaviour: RemoteBehaviour): void;
  /** Resolves when a push waits in the hook. */
  held(): Promise<void>;
  letGo(): void;
  /** How many pushes have reached the hook. */
  pushes(): number;
};

/** `post-receive` of a breaking remote ends the program that talks to us: the commit is in, and the answer is lost. */
export function slowRemote({ dir, bare }: Pick<Repositories, "dir" | "bare">): SlowRemote {
  const file = (name: string): string => join(dir, `remote-${name}`);
  const hook = (name: string, text: string): void =>
    writeFileSync(join(bare, "hooks", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  mkdirSync(join(bare, "hooks"), { recursive: true });
  const behaviour = `behaviour=$(cat "${file("behaviour")}" 2>/dev/null)`;
  hook(
    "pre-receive",
    `${behaviour}
echo x >> "${file("pushes")}"
case "$behaviour" in
  refuses) echo "protected branch" >&2; exit 1 ;;
  slow) touch "${file("held")}"; while [ ! -e "${file("go")}" ]; do sleep 0.02; done ;;
esac
exit 0`,
  );
  hook("post-receive", `${behaviour}\n[ "$behaviour" = breaks ] && kill -9 "$PPID"\nexit 0`);
  return {
    behave(next) {
      for (const name of ["held", "go"]) rmSync(file(name), { force: true });
      writeFileSync(file("behaviour"), next);
    },
    held: async () =>
      void (await until("a push waits at the remote", () => (existsSync(file("held")) ? true : undefined))),
    letGo: () => writeFileSync(file("go"), ""),
    pushes: () => (existsSync(file("pushes")) ? readFileSync(file("pushes"), "utf8").split("x").length - 1 : 0),
  };
}
