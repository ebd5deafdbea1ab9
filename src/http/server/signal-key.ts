// The key of a request as the id of a signal. `part` distinguishes several signals of one request.

/** The prefix is stored with every run since version 0.1. */
export function signalKey(key: string | undefined, part: string = ""): string | undefined {
  return key === undefined ? undefined : `wish:${key}${part}`;
}
