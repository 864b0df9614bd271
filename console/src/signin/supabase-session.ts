import { AuthClient, type Session as AuthSession } from "@supabase/auth-js";
import type { Config } from "../service/config.ts";
import type { LogloomError } from "../service/logloom.ts";
import { type Claims, Listeners, readClaims, type Session } from "../service/session.ts";

/** A session of Supabase Auth. supabase-js stores and refreshes it. */
export class SupabaseSession extends Listeners implements Session {
  #session: AuthSession | null = null;
  #ended = false;
  refusal: LogloomError | null = null;

  constructor(readonly auth: InstanceType<typeof AuthClient>) {
    super();
    auth.onAuthStateChange((event: string, session: AuthSession | null) => {
      const before = this.#session?.access_token;
      if (event === "SIGNED_OUT" && this.#session !== null && !this.#leaving) this.#ended = true;
      if (session) this.#ended = false;
      this.#session = session;
      if (before !== session?.access_token) this.tell();
    });
  }

  #leaving = false;

  /** Opens the session of a link or OAuth provider, or the stored one. */
  async open(): Promise<void> {
    const { data } = await this.auth.getSession();
    this.#session = data.session;
  }

  token = async (): Promise<string | null> => {
    const { data } = await this.auth.getSession();
    return data.session?.access_token ?? null;
  };

  claims = (): Claims | null => this.#session ? readClaims(this.#session.access_token) : null;

  renew = async (): Promise<boolean> => {
    const { data, error } = await this.auth.refreshSession();
    return !error && data.session !== null;
  };

  refused = async (why: LogloomError): Promise<boolean> => {
    const { data, error } = await this.auth.refreshSession();
    if (!error && data.session) return true;
    this.refusal = why;
    // Only a refusal ends the session, not a missing network.
    if (error && (error.status === undefined || error.status >= 500)) return false;
    await this.auth.signOut({ scope: "local" });
    return false;
  };

  hasEnded = (): boolean => this.#ended;

  signOut = async (): Promise<void> => {
    this.#leaving = true;
    await this.auth.signOut({ scope: "local" });
    this.#leaving = false;
  };
}

export async function openSupabaseSession(config: Config): Promise<SupabaseSession> {
  const origin = config.url === "" ? location.origin : config.url;
  const project = new URL(origin).hostname.split(".")[0];
  const session = new SupabaseSession(
    new AuthClient({
      url: `${origin}/auth/v1`,
      headers: { apikey: config.key, Authorization: `Bearer ${config.key}` },
      storageKey: `sb-${project}-auth-token`,
      flowType: "pkce",
      autoRefreshToken: true,
      persistSession: true,
      detectSessionInUrl: true,
    }),
  );
  await session.open();
  return session;
}

/** The address that Auth redirects to: this page without parameters. */
export function returnAddress(): string {
  return `${location.origin}${location.pathname}`;
}
