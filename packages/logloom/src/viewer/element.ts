/** A token and its end, as an ISO 8601 time or as milliseconds since 1970. */
export interface ViewerToken {
  readonly token: string;
  readonly expires_at?: string | number | null;
}

export type GetToken = () => string | ViewerToken | Promise<string | ViewerToken>;

export interface QueryChanged {
  readonly query: string;
  readonly from: string;
  readonly to: string;
}

/** The replacement of an English label. If a number decides the wording, one text for each plural category. */
export type ViewerLabel = string | { readonly [category in Intl.LDMLPluralRule]?: string };

export interface ViewerFailure {
  /** 0 if the service did not answer. */
  readonly status: number;
  readonly message: string;
}

/** A new token is requested this long before the old one ends. */
const aheadMs = 60_000;
/** The shortest time between requests for a token. A host may return the same token until it ends. */
const pauseMs = 5_000;
const longestTimerMs = 2 ** 31 - 1;

const css =
  ":host{display:block;height:clamp(480px,var(--logloom-content,560px),80vh)}:host([hidden]){display:none}iframe{display:block;width:100%;height:100%;border:0;border-radius:inherit;color-scheme:normal}";

// Allows importing the module where there is no page.
const Base: typeof HTMLElement = globalThis.HTMLElement ?? class {} as typeof HTMLElement;

/** `<logloom-viewer src part query range theme>`: the portal in a frame. */
export class LogloomViewer extends Base {
  static readonly observedAttributes: readonly string[] = [
    "src",
    "part",
    "query",
    "range",
    "theme",
    "class",
    "style",
  ];

  #getToken: GetToken | null = null;
  #labels: Record<string, ViewerLabel> = {};
  #token: ViewerToken | null = null;
  #frame: HTMLIFrameElement | null = null;
  #origin = "";
  #isThere = false;
  /** Counts the tokens that were requested or set, so that a late answer is ignored. */
  #ask = 0;
  #isAsking = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dark: MediaQueryList | undefined;

  /** A property, not an attribute: every script and recorder of the page can read attributes. */
  get token(): string | null {
    return this.#token?.token ?? null;
  }

  set token(value: string | ViewerToken | null) {
    // If there is getToken, only its answer renews the token. A token that is set meanwhile may belong to another
    // customer.
    this.#take(value, this.#isAsking && this.#getToken === null);
  }

  /** A function that returns a token whenever one is needed. */
  get getToken(): GetToken | null {
    return this.#getToken;
  }

  set getToken(value: GetToken | null) {
    this.#getToken = value;
  }

  /** Labels in another language, by the English text. */
  get labels(): Record<string, ViewerLabel> {
    return this.#labels;
  }

  set labels(value: Record<string, ViewerLabel>) {
    this.#labels = value;
    this.#show();
  }

  connectedCallback(): void {
    // The property may have been set before the element was defined.
    for (const name of ["token", "getToken", "labels"] as const) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete (this as Partial<LogloomViewer>)[name];
      Object.assign(this, { [name]: value });
    }
    addEventListener("message", this.#heard);
    this.#dark = matchMedia("(prefers-color-scheme: dark)");
    this.#dark.addEventListener("change", this.#dressed);
    this.#open();
  }

  disconnectedCallback(): void {
    removeEventListener("message", this.#heard);
    this.#dark?.removeEventListener("change", this.#dressed);
    clearTimeout(this.#timer);
    this.#ask++;
    this.#close();
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now) return;
    if (name === "src" || name === "part") {
      // Initial attributes arrive before the element is in the page, and must not open it.
      if (this.#dark && this.isConnected) this.#open();
    } else if (name === "query" || name === "range") this.#show(name);
    else this.#show();
  }

  /** The page's style sheet may have other colours in dark mode. */
  #dressed = (): void => this.#show();

  #close(): void {
    this.#frame?.remove();
    this.#frame = null;
    this.#isThere = false;
    // A new frame has not requested a token yet.
    this.#isAsking = false;
  }

  #open(): void {
    this.#close();
    const src = this.getAttribute("src");
    if (!src) return;
    const url = URL.canParse(src, document.baseURI) ? new URL(src, document.baseURI) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) return this.#fail("src is no address of a page");
    this.#origin = url.origin;
    const part = this.getAttribute("part");
    if (part) url.searchParams.set("part", part);
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    // A page's policy may forbid style elements.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet];
    const frame = document.createElement("iframe");
    frame.title = this.getAttribute("aria-label") ?? "Logs";
    frame.referrerPolicy = "no-referrer";
    frame.allow = "clipboard-write";
    frame.setAttribute(
      "sandbox",
      "allow-scripts allow-same-origin allow-forms allow-downloads allow-popups allow-popups-to-escape-sandbox",
    );
    frame.src = url.href;
    root.append(frame);
    this.#frame = frame;
  }

  #heard = ({ source, origin, data }: MessageEvent): void => {
    if (!this.#frame || source !== this.#frame.contentWindow || origin !== this.#origin) return;
    const { logloom: what, ...rest } = Object(data) as Record<string, unknown>;
    switch (what) {
      case "hello":
        this.#isThere = true;
        this.#show("query", "range");
        if (this.#token) {
          this.#hand(false);
          // Moving the element within the page created a new frame and stopped its timer.
          this.#renewInTime();
        } else this.#need();
        break;
      case "token-needed":
        this.#need();
        break;
      case "height":
        this.style.setProperty("--logloom-content", `${Math.min(Number(rest.height) || 0, 1e5)}px`);
        break;
      case "ready":
      case "error":
      case "query-changed":
        this.#tell(what, rest);
    }
  };

  /** Passes the element's style and these attributes to the frame. */
  #show(...names: string[]): void {
    if (!this.#isThere) return;
    const style = getComputedStyle(this);
    const theme: Record<string, string> = { scheme: this.getAttribute("theme") ?? "auto" };
    for (const name of ["accent", "font", "radius", "density"]) {
      theme[name] = style.getPropertyValue(`--logloom-${name}`).trim().replace(/px$/, "");
    }
    const language = this.closest<HTMLElement>("[lang]")?.lang;
    const said: Record<string, unknown> = { theme, labels: this.#labels, language };
    for (const name of names) said[name] = this.getAttribute(name) ?? undefined;
    this.#say(said);
  }

  #hand(renews: boolean): void {
    this.#say({ token: this.#token?.token, renews });
  }

  #say(said: Record<string, unknown>): void {
    if (!this.#isThere) return;
    this.#frame?.contentWindow?.postMessage({ logloom: "show", ...said }, this.#origin);
  }

  #take(given: string | ViewerToken | null, answers: boolean): void {
    clearTimeout(this.#timer);
    this.#ask++;
    const renews = answers && this.#token !== null;
    this.#isAsking = false;
    this.#token = typeof given === "string" ? { token: given } : given;
    if (!this.#token) return this.isConnected ? this.#open() : undefined;
    this.#hand(renews);
    this.#renewInTime();
  }

  /** Starts a timer to renew the token, if a frame uses it. */
  #renewInTime(): void {
    clearTimeout(this.#timer);
    if (!this.#isThere) return;
    const end = this.#token?.expires_at;
    const left = (typeof end === "number" ? end : Date.parse(end ?? "")) - Date.now();
    if (left > 0) {
      const wait = Math.max(left - aheadMs, left / 2, pauseMs);
      this.#timer = setTimeout(() => this.#need(), Math.min(wait, longestTimerMs));
    }
  }

  /** Asks for a new token. */
  async #need(): Promise<void> {
    // Sends the event first: a host without getToken answers it by setting `token`.
    const ask = ++this.#ask;
    this.#isAsking = true;
    this.#tell("token-needed", {});
    if (!this.#getToken || ask !== this.#ask) return;
    try {
      const given = await this.#getToken();
      if (ask !== this.#ask) return;
      const token = typeof given === "string" ? given : given?.token;
      if (typeof token !== "string" || token === "") throw "it gave no token";
      this.#take(given, true);
    } catch (error) {
      if (ask === this.#ask) {
        // A token that is set later was not requested. It may belong to another customer.
        this.#isAsking = false;
        this.#fail(`getToken failed: ${error instanceof Error ? error.message : error}`);
      }
    }
  }

  #fail(message: string): void {
    this.#tell("error", { status: 0, message });
  }

  #tell(name: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** Defines the element once for each page. */
export function defineViewer(name = "logloom-viewer"): void {
  const elements = globalThis.customElements;
  if (elements && !elements.get(name)) elements.define(name, LogloomViewer);
}
