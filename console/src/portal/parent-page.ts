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
  | { logloom: "hello" | "bye" | "ready" | "token-needed" }
  | { logloom: "error"; status: number; message: string }
  | { logloom: "query-changed"; query: string; from: string; to: string }
  | { logloom: "height"; height: number };

/**
 * The page around the frame. Each message has the nonce that the element made for this frame. Messages without it, of
 * other windows and of other origins are ignored.
 */
export class ParentPage {
  #origin: string | null = null;

  constructor(
    private readonly nonce: string,
    private readonly allowed: readonly string[],
    private readonly onMessage: (said: FromParent) => void,
  ) {}

  /** Says hello to any page: only the page that made the nonce can use it. */
  begin(): void {
    addEventListener("message", this.#take);
    addEventListener("pagehide", () => this.#post({ logloom: "bye" }, "*"));
    // A page that the browser kept and shows again.
    addEventListener(
      "pageshow",
      (event) => event.persisted && this.#post({ logloom: "hello" }, "*"),
    );
    this.#post({ logloom: "hello" }, "*");
  }

  /** Null until the page has sent a message. */
  get origin(): string | null {
    return this.#origin;
  }

  tell(told: ToParent): void {
    if (this.#origin !== null) this.#post(told, this.#origin);
  }

  #post(told: ToParent, to: string): void {
    parent.postMessage({ ...told, nonce: this.nonce }, to);
  }

  #take = ({ source, origin, data }: MessageEvent): void => {
    if (source !== parent || !this.allowed.includes(origin)) return;
    const { logloom, nonce } = Object(data);
    if (logloom !== "show" || nonce !== this.nonce) return;
    this.#origin = origin;
    this.onMessage(data as FromParent);
  };
}
