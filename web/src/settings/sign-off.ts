import { ApiError, call } from "../base/api.ts";
import { endSession } from "../base/session.ts";

/** The daemon forgets the session first; where it does not know it any more, that is as good. A key is no session: it only leaves this browser. */
export async function logOut(): Promise<void> {
  try {
    await call("endSession", {});
  } catch (error) {
    const isGone = error instanceof ApiError && ["session_not_found", "auth_invalid"].includes(error.problem.code);
    if (!isGone) throw error;
  }
  endSession(true);
}
