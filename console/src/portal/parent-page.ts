import type { Theme } from "./theme.ts";

/** A message from the page around the frame. */
export interface FromParent {
  logloom: "show";
  token?: unknown;
  renews?: unknown;
  query?: unknown;
  range?: unknown;
  theme?: Theme;
  labels?: unknown;
  /** The language of the labels: `de`. */
  language?: unknown;
}

export type ToParent =
  | { logloom: "hello" | "ready" | "token-needed" }
  | { logloom: "error"; status: number; message: string }
  | { logloom: "query-changed"; query: string; from: string; to: string }
  | { logloom: "height"; height: number };

/** The page around the frame. Messages from other origins are ignored. */
export class ParentPage {
  #origin: string | null = null;

  constructor(
    private readonly allowed: readonly string[],
    private readonly onMessage: (said: FromParent) => void,
  ) {}

  /** Says hello to any page: this message holds no data. */
  begin(): void {
    addEventListener("message", this.#take);
    parent.postMessage({ logloom: "hello" } satisfies ToParent, "*");
  }

  /** Null until the page has sent a message. */
  get origin(): string | null {
    return this.#origin;
  }

  tell(told: ToParent): void {
    if (this.#origin !== null) parent.postMessage(told, this.#origin);
  }

  #take = ({ source, origin, data }: MessageEvent): void => {
    if (source !== parent || !this.allowed.includes(origin)) return;
    if (Object(data).logloom !== "show") return;
    this.#origin = origin;
    this.onMessage(data as FromParent);
  };
}
