import { createContext, useContext } from "react";

/** Who is signed in, as the access token says. It is read, never trusted: the service checks it. */
export interface Claims {
  tenant: string | null;
  user: string;
  email: string | null;
  /** Milliseconds since 1970, or null where the token does not expire. */
  expiresAt: number | null;
}

/** A way of being signed in: a local token, or Supabase Auth. */
export interface Session {
  /** The token to send now; refreshed where it can be. Null when signed out. */
  token(): Promise<string | null>;
  claims(): Claims | null;
  /** Told that the service refused the token. True where there is a new one, with which to ask again. */
  refused(): Promise<boolean>;
  /** Whether somebody was signed in here until the token was refused. */
  hasEnded(): boolean;
  /** Asks for a token with what is known of the user now. False where only signing in again gives one. */
  renew(): Promise<boolean>;
  signOut(): Promise<void>;
  subscribe(listener: () => void): () => void;
  /** A counter that moves with every change, for useSyncExternalStore. */
  version(): number;
}

export function readClaims(token: string): Claims | null {
  try {
    const part = token.split(".")[1] ?? "";
    const bytes = Uint8Array.from(
      atob(part.replaceAll("-", "+").replaceAll("_", "/")),
      (character) => character.charCodeAt(0),
    );
    const claims = JSON.parse(new TextDecoder().decode(bytes)) as Record<
      string,
      unknown
    >;
    const tenant = claims.tenant_id;
    return {
      tenant: typeof tenant === "string" && tenant.trim() !== "" ? tenant : null,
      user: typeof claims.sub === "string" ? claims.sub : "",
      email: typeof claims.email === "string" ? claims.email : null,
      expiresAt: typeof claims.exp === "number" ? claims.exp * 1000 : null,
    };
  } catch {
    return null;
  }
}

/** What sessions have in common: somebody to tell. */
export class Listeners {
  #listeners = new Set<() => void>();
  #version = 0;

  subscribe = (listener: () => void): () => void => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  version = (): number => this.#version;

  tell(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("there is no session above this component");
  return session;
}
