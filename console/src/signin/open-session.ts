import type { Config } from "../service/config.ts";
import type { Session } from "../service/session.ts";
import { TokenSession } from "../service/token-session.ts";

/** The session of this deployment. Supabase's part is only loaded if it is used. */
export async function openSession(config: Config): Promise<Session> {
  if (config.auth === "token") {
    const session = new TokenSession();
    takeLink(session);
    // The same tab may get a new link later: then only the fragment changes, and nothing is reloaded.
    globalThis.addEventListener("hashchange", () => takeLink(session));
    return session;
  }
  const { openSupabaseSession } = await import("./supabase-session.ts");
  return openSupabaseSession(config);
}

/** Takes `#token=…` out of the address before anything else reads it. */
function takeLink(session: TokenSession): void {
  if (!location.hash.startsWith("#token=")) return;
  session.signIn(location.hash);
  history.replaceState(null, "", location.pathname + location.search);
  globalThis.dispatchEvent(new PopStateEvent("popstate"));
}
