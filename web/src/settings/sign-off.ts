import { ApiError, call } from "../base/api.ts";
import { endSession } from "../base/session.ts";

/**
 * Ends the session in the daemon, then in this browser. A session that the daemon does not know counts as ended; a key only leaves the
 * browser.
 */
export async function logOut(): Promise<void> {
  try {
    await call("endSession", {});
  } catch (error) {
    const isGone = error instanceof ApiError && ["session_not_found", "auth_invalid"].includes(error.problem.code);
    if (!isGone) throw error;
  }
  endSession(true);
}
