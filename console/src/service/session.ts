import { createContext, useContext } from "react";
import type { LogloomError } from "./logloom.ts";

/** The signed-in user, read from the access token. The service checks the token. */
export interface Claims {
  tenant: string | null;
  user: string;
  email: string | null;
  /** Milliseconds since 1970, or null if the token does not expire. */
  expiresAt: number | null;
}

/** A kind of session: a local token, or Supabase Auth. */
export interface Session {
  /** The current token, refreshed if necessary. Null when signed out. */
  token(): Promise<string | null>;
  claims(): Claims | null;
  /** Call when the service refused the token. True if there is a new token to retry with. */
  refused(why: LogloomError): Promise<boolean>;
  /** Whether the session ended because its token was refused. */
  hasEnded(): boolean;
  /** Why the token was refused. */
  readonly refusal: LogloomError | null;
  /** Gets a new token with the user's current data. False if the user must sign in again. */
  renew(): Promise<boolean>;
  signOut(): Promise<void>;
  subscribe(listener: () => void): () => void;
  /** A counter of changes, for useSyncExternalStore. */
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

/** Identifies the reader: a user in a tenant. */
export function readerOf(claims: Claims | null): string | null {
  return claims && `${claims.tenant}\n${claims.user}`;
}

/** Listeners to changes, for useSyncExternalStore. */
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

/** The user's id, or null in the portal, where nobody is signed in. */
export function useUserId(): string | null {
  return useContext(SessionContext)?.claims()?.user ?? null;
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("there is no session above this component");
  return session;
}
