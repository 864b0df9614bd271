import { SMTPServer } from "smtp-server";
import { eventually } from "./eventually.ts";

export interface ReceivedWebhook {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** When it arrived, by performance.now(). */
  at: number;
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly ReceivedWebhook[];
  /** Waits until this many have arrived. */
  wait(count: number): Promise<readonly ReceivedWebhook[]>;
}

/** Starts an HTTP server for webhooks. `answer` gets the number of earlier requests, and the path. */
export function receiveWebhooks(
  answer: (before: number, path: string) => Response | Promise<Response> = () => new Response("ok"),
  port = 0,
): WebhookReceiver {
  const received: ReceivedWebhook[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port, onListen: () => {} },
    async (request) => {
      const path = new URL(request.url).pathname;
      received.push({
        path,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
        at: performance.now(),
      });
      return await answer(received.length - 1, path);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    received,
    wait: (count) =>
      eventually(`${count} webhooks`, () => Promise.resolve(received.length >= count && received)),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

export interface ReceivedEmail {
  to: string[];
  text: string;
}

export interface Mailbox extends AsyncDisposable {
  readonly received: readonly ReceivedEmail[];
  /** Waits for the first email to an address whose subject begins with a text. */
  wait(to: string, subject?: string): Promise<ReceivedEmail>;
  /** Waits for the code that was mailed to an address. */
  waitForCode(to: string): Promise<string>;
}

/** Returns the mail server of the stack under test. */
export async function receiveEmails(): Promise<Mailbox> {
  const received: ReceivedEmail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    onData(stream, session, done) {
      let text = "";
      stream.on("data", (chunk: Uint8Array) => text += new TextDecoder().decode(chunk));
      stream.on("end", () => {
        received.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          text: text.replaceAll("=\r\n", ""),
        });
        done();
      });
    },
  });
  const port = Number(Deno.env.get("LOGLOOM_SMTP_PORT"));
  // Tests that run at the same time take turns: the stack knows one port.
  await eventually(
    "a free port for mails",
    () =>
      new Promise<true | undefined>((resolve, reject) => {
        server.once(
          "error",
          (error: Error & { code?: string }) =>
            error.code === "EADDRINUSE" ? resolve(undefined) : reject(error),
        );
        server.listen(port, "127.0.0.1", () => resolve(true));
      }),
  );
  const wait = (to: string, subject = "") =>
    eventually(
      `an email to ${to}`,
      () =>
        Promise.resolve(
          received.find((email) =>
            email.to.includes(to) && email.text.includes(`\nSubject: ${subject}`)
          ),
        ),
    );
  return {
    received,
    wait,
    waitForCode: async (to) => {
      const { text } = await wait(to, "[Logloom] Confirm this address");
      return /^Code: +(\d{6})\r?$/m.exec(text)?.[1] ?? "";
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
