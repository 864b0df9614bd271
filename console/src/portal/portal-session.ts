import { Listeners } from "../service/session.ts";

/** How long the page around the frame has for a new token. */
const patienceMs = 10_000;

/** The token that the page around the frame gave: in memory, nowhere else. */
export class PortalSession extends Listeners {
  #token: string | null = null;
  #waiting: ((isNew: boolean) => void)[] = [];
  #hasEnded = false;
  /** Grows with each token that may be another reader's. */
  reader = 0;

  /** `ask`: asks the page around the frame for a token. Null where there is none: a link is good once. */
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

  /** `renews`: the host gives the same reader a new token. */
  give(token: string, renews: boolean): void {
    const isNew = token !== this.#token;
    if (this.#token === null || this.#hasEnded || isNew && !renews) this.reader += 1;
    this.#token = token;
    this.#hasEnded = false;
    this.#answer(isNew);
    this.tell();
  }

  /** The service refused this token: asks for another one, unless it has come by now. */
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
