import { Listeners } from "../service/session.ts";

/** How long to wait for a new token from the page around the frame. */
const patienceMs = 10_000;

/** Holds the token from the page around the frame, in memory only. */
export class PortalSession extends Listeners {
  #token: string | null = null;
  #waiting: ((isNew: boolean) => void)[] = [];
  #hasEnded = false;
  /** Increases with each token that may belong to another reader. */
  reader = 0;

  /** `ask` requests a token from the page around the frame. Null for a link, which works once. */
  constructor(private readonly ask: (() => void) | null) {
    super();
    if (ask) setTimeout(() => this.#token === null && this.#end(), patienceMs);
  }

  get canAsk(): boolean {
    return this.ask !== null;
  }

  token = (): string | null => this.#token;

  get state(): "waiting" | "open" | "ended" {
    return this.#hasEnded ? "ended" : this.#token === null ? "waiting" : "open";
  }

  /** `renews`: the new token is for the same reader. */
  give(token: string, renews: boolean): void {
    const isNew = token !== this.#token;
    if (this.#token === null || this.#hasEnded || isNew && !renews) this.reader += 1;
    this.#token = token;
    this.#hasEnded = false;
    this.#answer(isNew);
    this.tell();
  }

  /** The service refused this token: asks for another, unless a new one has already come. */
  refused = async (refused: string | null): Promise<boolean> => {
    if (this.#token !== refused) return this.#token !== null;
    const { ask } = this;
    const isNew = ask !== null && await new Promise<boolean>((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length > 1) return;
      const token = this.#token;
      setTimeout(() => this.#token === token && this.#answer(false), patienceMs);
      ask();
    });
    if (!isNew) this.#end();
    return isNew;
  };

  #end(): void {
    if (this.#hasEnded) return;
    this.#token = null;
    this.#hasEnded = true;
    this.tell();
  }

  #answer(isNew: boolean): void {
    for (const resolve of this.#waiting.splice(0)) resolve(isNew);
  }
}
