import type { Theme } from "./theme.ts";

/** What the page around the frame says. */
export interface Said {
  logloom: "show";
  token?: unknown;
  renews?: unknown;
  query?: unknown;
  range?: unknown;
  theme?: Theme;
  labels?: unknown;
  /** Of the labels: `de`. */
  language?: unknown;
}

export type Told =
  | { logloom: "hello" | "ready" | "token-needed" }
  | { logloom: "error"; status: number; message: string }
  | { logloom: "query-changed"; query: string; from: string; to: string }
  | { logloom: "height"; height: number };

/** The page around the frame, if its origin is one of the allowed ones. */
export class ParentPage {
  #origin: string | null = null;

  constructor(
    private readonly allowed: readonly string[],
    private readonly onSaid: (said: Said) => void,
  ) {}

  /** The first message holds nothing, so whoever frames this page may read it. */
  begin(): void {
    addEventListener("message", this.#take);
    parent.postMessage({ logloom: "hello" } satisfies Told, "*");
  }

  /** Null before it has said anything, and where there is none. */
  get origin(): string | null {
    return this.#origin;
  }

  tell(told: Told): void {
    if (this.#origin !== null) parent.postMessage(told, this.#origin);
  }

  #take = ({ source, origin, data }: MessageEvent): void => {
    if (source !== parent || !this.allowed.includes(origin)) return;
    if (Object(data).logloom !== "show") return;
    this.#origin = origin;
    this.onSaid(data as Said);
  };
}
