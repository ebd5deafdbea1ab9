// Starts one program from this process, without a shell, and collects its output up to a limit.

import { execFile } from "node:child_process";

export type LaunchOrder = {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input: Uint8Array;
  readonly timeoutMs: number;
  readonly maxBytes: number;
};

export type LaunchEnd = {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly failure: LaunchFailure | null;
};

/** `code` is the exit code, or the word of the system or of Node for a program that did not run to its end. */
export type LaunchFailure = {
  readonly code: number | string | null;
  readonly isTimeout: boolean;
  readonly message: string;
};

export function launchHere({ file, args, env, input, timeoutMs, maxBytes }: LaunchOrder): Promise<LaunchEnd> {
  return new Promise((resolve) => {
    const child = execFile(
      file,
      args,
      {
        // Not the folder it works on: a relative entry in PATH would otherwise find a program of that name there.
        cwd: "/",
        env,
        encoding: "buffer",
        timeout: timeoutMs,
        killSignal: "SIGKILL",
        maxBuffer: maxBytes,
      },
      (error, stdout, stderr) => {
        const failure =
          error === null
            ? null
            : { code: error.code ?? null, isTimeout: error.killed === true, message: error.message };
        resolve({ stdout, stderr, failure });
      },
    );
    // It may end before it has read its input; its exit status is enough.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
