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
/** The most calls in that time. A token that is refused at once is replaced at once. */
const mostInPause = 5;
/** How long elements share a call that has not answered yet. */
const patienceMs = 10_000;
const longestTimerMs = 2 ** 31 - 1;
/** How often the element looks at the page's colours. No event tells of a style sheet that changes. */
const lookMs = 500;

/** A call of a `getToken`. */
interface Asked {
  /** Undefined after it failed. */
  answer?: Promise<ViewerToken>;
  readonly since: number;
  /** When the last calls began. */
  readonly times: number[];
  /** The token that it replaces. */
  readonly worn: string | undefined;
  given?: ViewerToken;
}

/** The last call of each `getToken`: elements with the same function share its token. */
const calls = new WeakMap<GetToken, Asked>();

/** A token to use instead of `worn`, which is refused or about to end. Elements that ask together cause one call. */
function askOnce(getToken: GetToken, worn: string | undefined): Promise<ViewerToken> {
  const last = calls.get(getToken);
  const age = last ? Date.now() - last.since : Infinity;
  const given = last?.given;
  if (
    last?.answer && (last.worn === worn && age < pauseMs ||
      (given ? given.token !== worn && !(leftOf(given) < aheadMs) : age < patienceMs))
  ) return last.answer;
  const times = last?.times.slice(-mostInPause) ?? [];
  const wait = Math.max((times.at(-mostInPause) ?? 0) + pauseMs - Date.now(), 0);
  const pause = wait && new Promise((resolve) => setTimeout(resolve, wait));
  const answer = Promise.resolve(pause).then(() => getToken()).then((answer) => {
    const given = typeof answer === "string" ? { token: answer } : answer;
    if (typeof given?.token !== "string" || given.token === "") throw "it gave no token";
    return asked.given = given;
  });
  const asked: Asked = { answer, since: Date.now() + wait, times, worn };
  times.push(asked.since);
  answer.catch(() => asked.answer = undefined);
  calls.set(getToken, asked);
  return answer;
}

/** The milliseconds until a token ends. NaN if it does not say. */
function leftOf({ expires_at: end }: ViewerToken): number {
  return (typeof end === "number" ? end : Date.parse(end ?? "")) - Date.now();
}

/**
 * Whether the page is dark behind an element: the brightness of the backgrounds from the element outwards, then of the
 * page's canvas. `probe` is an element in the same place that may get any colour.
 */
function isDark(element: Element, probe: HTMLElement): boolean {
  let [bright, open] = [0, 1];
  const add = (colour: string) => {
    // Turns every notation into `color(srgb R G B / A)`.
    probe.style.color = `color-mix(in srgb, ${colour}, ${colour})`;
    const [red = 0, green = 0, blue = 0, alpha = 1] =
      getComputedStyle(probe).color.match(/-?[\d.]+(e-\d+)?/g)?.map(Number) ?? [];
    bright += open * alpha * (0.2126 * red + 0.7152 * green + 0.0722 * blue);
    open *= 1 - alpha;
  };
  // In forced colours the browser replaces the probe's colour.
  probe.style.forcedColorAdjust = "none";
  for (let at: Node | null = element; at && open > 0.01;) {
    if (at instanceof Element) add(getComputedStyle(at).backgroundColor);
    at = (at as Element).assignedSlot ?? at.parentNode ?? (at as ShadowRoot).host ?? null;
  }
  add("Canvas");
  return bright < 0.5;
}

/** The language of an element, also if it is declared outside its shadow root. */
function languageOf(element: Element | undefined): string | undefined {
  return element && (element.closest<HTMLElement>("[lang]")?.lang ??
    languageOf((element.getRootNode() as ShadowRoot).host));
}

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
  /** Both sides put it into each message. Each frame has its own. */
  #nonce = "";
  readonly #probe = document.createElement("i");
  #looking: ReturnType<typeof setInterval> | undefined;
  #shown = "";

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
    this.#looking = setInterval(() => document.hidden || this.#dress(), lookMs);
    this.#open();
  }

  disconnectedCallback(): void {
    removeEventListener("message", this.#heard);
    clearInterval(this.#looking);
    this.#looking = undefined;
    clearTimeout(this.#timer);
    this.#ask++;
    this.#close();
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now) return;
    if (name === "src" || name === "part") {
      // Initial attributes arrive before the element is in the page, and must not open it.
      if (this.#looking) this.#open();
    } else if (name === "query" || name === "range") this.#show(name);
    else this.#dress();
  }

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
    // The page removes it from its address at once.
    url.hash = this.#nonce = crypto.getRandomValues(new Uint32Array(4)).join("-");
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
    // A frame that loads another page has lost its nonce, and gets no message any more.
    let loads = 0;
    frame.onload = () => loads++ && frame === this.#frame && this.#open();
    this.#probe.hidden = true;
    root.append(this.#probe, frame);
    this.#frame = frame;
  }

  #heard = ({ source, origin, data }: MessageEvent): void => {
    if (!this.#frame || origin !== this.#origin) return;
    const { logloom: what, nonce, ...rest } = Object(data) as Record<string, unknown>;
    if (nonce !== this.#nonce) return;
    // The message of a page that goes comes from no window.
    if (source !== this.#frame.contentWindow && what !== "bye") return;
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
      case "bye":
        // Another page follows, perhaps one that never finishes loading. It must get no token.
        this.#isThere = false;
        clearTimeout(this.#timer);
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

  /** The element's style for the frame. */
  #look(): Record<string, string> {
    const style = getComputedStyle(this);
    let scheme = this.getAttribute("theme") ?? "";
    if (!/^(light|dark)$/.test(scheme)) scheme = isDark(this, this.#probe) ? "dark" : "light";
    const theme: Record<string, string> = { scheme };
    for (const name of ["accent", "font", "radius", "density"]) {
      theme[name] = style.getPropertyValue(`--logloom-${name}`).trim().replace(/px$/, "");
    }
    return theme;
  }

  #dress(): void {
    if (this.#isThere && JSON.stringify(this.#look()) !== this.#shown) this.#show();
  }

  /** Passes the element's style and these attributes to the frame. */
  #show(...names: string[]): void {
    if (!this.#isThere) return;
    const theme = this.#look();
    this.#shown = JSON.stringify(theme);
    const language = languageOf(this);
    const said: Record<string, unknown> = { theme, labels: this.#labels, language };
    for (const name of names) said[name] = this.getAttribute(name) ?? undefined;
    this.#say(said);
  }

  #hand(renews: boolean): void {
    this.#say({ token: this.#token?.token, renews });
  }

  #say(said: Record<string, unknown>): void {
    if (!this.#isThere) return;
    this.#frame?.contentWindow?.postMessage(
      { logloom: "show", nonce: this.#nonce, ...said },
      this.#origin,
    );
  }

  #take(given: string | ViewerToken | null, answers: boolean): void {
    clearTimeout(this.#timer);
    this.#ask++;
    const renews = answers && this.#token !== null;
    this.#isAsking = false;
    this.#token = typeof given === "string" ? { token: given } : given;
    if (!this.#token) {
      // The next token may be another customer's.
      if (this.#getToken) calls.delete(this.#getToken);
      return this.isConnected ? this.#open() : undefined;
    }
    this.#hand(renews);
    this.#renewInTime();
  }

  /** Starts a timer to renew the token, if a frame uses it. */
  #renewInTime(): void {
    clearTimeout(this.#timer);
    if (!this.#isThere) return;
    const left = this.#token ? leftOf(this.#token) : 0;
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
      const given = await askOnce(this.#getToken, this.#token?.token);
      if (ask === this.#ask) this.#take(given, true);
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
