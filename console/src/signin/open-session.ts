import type { Config } from "../service/config.ts";
import type { Session } from "../service/session.ts";
import { TokenSession } from "../service/token-session.ts";

/** Opens the session of this deployment. Supabase's client is loaded only if it is used. */
export async function openSession(config: Config): Promise<Session> {
  if (config.auth === "token") {
    const session = new TokenSession();
    takeLink(session);
    // A new link in the same tab changes only the fragment and does not reload the page.
    globalThis.addEventListener("hashchange", () => takeLink(session));
    return session;
  }
  const { openSupabaseSession } = await import("./supabase-session.ts");
  return openSupabaseSession(config);
}

/** Signs in with `#token=…` and removes it from the address. */
function takeLink(session: TokenSession): void {
  if (!location.hash.startsWith("#token=")) return;
  session.signIn(location.hash);
  history.replaceState(null, "", location.pathname + location.search);
  globalThis.dispatchEvent(new PopStateEvent("popstate"));
}
