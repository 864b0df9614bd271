import type { LogloomError } from "./logloom.ts";
import { type Claims, Listeners, readClaims, type Session } from "./session.ts";

const kept = "logloom-token";

/**
 * A session on a local stack. The token comes in the fragment of the link that `npm start` prints, which browsers never
 * send. It is removed from the address at once and kept for this tab, so a reload stays signed in.
 */
export class TokenSession extends Listeners implements Session {
  #token: string | null;
  #ended = false;
  refusal: LogloomError | null = null;

  constructor(store: Storage = sessionStorage) {
    super();
    this.store = store;
    this.#token = store.getItem(kept);
  }

  private readonly store: Storage;

  token = (): Promise<string | null> => Promise.resolve(this.#token);

  claims = (): Claims | null => this.#token === null ? null : readClaims(this.#token);

  /** Takes a token, or a link with one. False if it is neither. */
  signIn(text: string): boolean {
    const token = (/#token=([^&\s]+)/.exec(text)?.[1] ?? text).trim();
    if (readClaims(token) === null) return false;
    this.#token = token;
    this.#ended = false;
    this.store.setItem(kept, token);
    this.tell();
    return true;
  }

  refused = (why: LogloomError): Promise<boolean> => {
    this.refusal = why;
    this.#ended = this.#token !== null;
    this.#forget();
    return Promise.resolve(false);
  };

  renew = (): Promise<boolean> => Promise.resolve(false);

  hasEnded = (): boolean => this.#ended;

  signOut = (): Promise<void> => {
    this.#ended = false;
    this.#forget();
    return Promise.resolve();
  };

  #forget(): void {
    if (this.#token === null) return;
    this.#token = null;
    this.store.removeItem(kept);
    this.tell();
  }
}
