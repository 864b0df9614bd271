import { createTransport } from "nodemailer";
import { cut, messageOf, oneLine, type Payload } from "./message.ts";
import { failed, type Outcome, retry } from "./outcome.ts";

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS if the server offers it. */
  readonly secure: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly from: string;
}

export interface EmailMessage {
  readonly id: string;
  /** Only for this attempt. */
  readonly attempt: string;
  readonly to: string;
  /** The JSON of webhooks, or a code. */
  readonly body: string;
}

/** Undefined without an SMTP server: known only when an email is sent. */
export function readSmtpSettings(
  get: (name: string) => string | undefined,
): SmtpSettings | undefined {
  const host = get("LOGLOOM_SMTP_HOST");
  const from = get("LOGLOOM_SMTP_FROM");
  if (!host || !from) return undefined;
  const port = Number(get("LOGLOOM_SMTP_PORT") || 465);
  return {
    host,
    port,
    secure: port === 465,
    user: get("LOGLOOM_SMTP_USER") || undefined,
    password: get("LOGLOOM_SMTP_PASSWORD") || undefined,
    from,
  };
}

export async function deliverEmail(
  message: EmailMessage,
  settings: SmtpSettings | undefined,
  timeoutMs: number,
): Promise<Outcome> {
  if (settings === undefined) return failed("SMTP is not configured");
  const { host, port, secure, user, password, from } = settings;
  const domain = from.slice(from.lastIndexOf("@") + 1).split(">")[0];
  const transport = createTransport({
    host,
    port,
    secure,
    // For EHLO; the machine's own name is private.
    name: domain,
    auth: user === undefined ? undefined : { user, pass: password ?? "" },
    // A password is only sent over TLS.
    requireTLS: user !== undefined && !secure,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { isNew, ...content } = compose(message.body);
  const attempt = transport.sendMail({
    from,
    to: { name: "", address: message.to },
    // The same in every attempt, so that a mailbox recognises a repeat, unless each attempt differs.
    messageId: `<${isNew ? message.attempt : message.id}@${domain}>`,
    ...content,
  }).then((): Outcome => ({ outcome: "delivered", status: 250 }), judge);
  // The limits above are for silence: a talkative server would outlast the claim.
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve(retry(unreachable)), timeoutMs);
  });
  try {
    return await Promise.race([attempt, timeout]);
  } finally {
    clearTimeout(timer);
    transport.close();
  }
}

const unreachable = "The SMTP server cannot be reached";

/** Confirms that a mailbox wants alerts. */
interface Confirmation {
  readonly type: "address.confirmation";
  readonly code: string;
  readonly hours: number;
}

/** Tells owners that a log stream was paused, or fails and is still tried. */
interface StreamTrouble {
  readonly type: "stream.paused" | "stream.failing";
  readonly data: {
    readonly stream_id: string;
    readonly name: string;
    readonly kind: string;
    readonly reason: string;
    readonly failing_since: string | null;
    readonly last_error: string | null;
    readonly answer?: string | null;
  };
}

interface Content {
  readonly subject: string;
  readonly text: string;
  /** Whether each attempt differs. */
  readonly isNew: boolean;
}

export function compose(body: string): Content {
  const payload = JSON.parse(body) as Payload | Confirmation | StreamTrouble;
  switch (payload.type) {
    case "address.confirmation":
      return composeConfirmation(payload as Confirmation);
    case "stream.paused":
    case "stream.failing":
      return composeTrouble(payload as StreamTrouble);
    default:
      return composeAlert(payload as Payload);
  }
}

/** No text of the tenant: the recipient may have nothing to do with it. */
function composeConfirmation({ code, hours }: Confirmation): Content {
  const text = [
    "Somebody wants alerts of Logloom, a log service, to be mailed to this address.",
    "",
    `Code:    ${code}`,
    "",
    `If it was you, enter the code there within ${hours} hours. Only the newest code is good.`,
    "If it was not, there is nothing to do: without the code no alerts are sent here.",
    "",
  ];
  return { subject: "[Logloom] Confirm this address", text: text.join("\n"), isNew: true };
}

const pauseReasons: Readonly<Record<string, string>> = {
  failing: "Its receiver has taken nothing for long.",
  refused: "Its receiver refuses every record: look at its address and secrets.",
  maker: "Whoever made it is no admin of the tenant any more.",
};

function composeTrouble({ type, data }: StreamTrouble): Content {
  const isPaused = type === "stream.paused";
  const what = `The log stream "${data.name}" (${data.kind})`;
  const lines = [
    isPaused
      ? `${what} was paused. ${pauseReasons[data.reason] ?? ""}`
      : `${what} fails: its receiver has taken nothing for a while. It is tried again and again.`,
    "",
    ...data.failing_since === null ? [] : [`Failing since: ${data.failing_since}`],
    ...data.last_error === null ? [] : [`Last error:    ${data.last_error}`],
    ...data.answer ? [`It answered:   ${oneLine(data.answer)}`] : [],
    `Stream:        ${data.stream_id}`,
    "",
    isPaused
      ? "Nothing is lost as long as its records are kept: enable it, and it goes on where it was."
      : "Nothing is lost as long as its records are kept: once the receiver works, it goes on by itself.",
    "",
  ];
  const name = data.name.replace(/\s+/g, " ");
  const subject = `[Logloom] ${isPaused ? "Paused" : "Failing"}: ${name}`;
  return { subject, text: lines.join("\n"), isNew: false };
}

function composeAlert(payload: Payload): Content {
  const { data } = payload;
  const { title, summary, facts, logs, url } = messageOf(payload);
  const width = Math.max(...facts.map(([name]) => name.length), 6);
  const lines = [
    summary,
    ...data.description === null ? [] : ["", data.description],
    "",
    ...facts.map(([name, value]) => `${`${name}:`.padEnd(width + 2)} ${value}`),
    ...logs.length === 0 ? [] : ["", "The newest records:", ...logs],
    ...url === undefined ? [] : ["", url],
    "",
    `Rule ${data.rule_id}${data.alert_id === null ? "" : `, alert ${data.alert_id}`}`,
    "",
  ];
  return { subject: `[Logloom] ${cut(title, 300)}`, text: lines.join("\n"), isNew: false };
}

function judge(error: unknown): Outcome {
  const { code, responseCode: status } = error as {
    code?: string;
    responseCode?: number;
  };
  if (code === "EAUTH") {
    return retry("The SMTP server refused Logloom's user", status);
  }
  if (code === "ETLS") return retry("No TLS connection to the SMTP server");
  // A fault of the recipient or message; any other fault is the server's and may pass.
  const isRefusal = code === "EENVELOPE" || code === "EMESSAGE";
  if (isRefusal && status !== undefined && status >= 500) {
    return failed(`SMTP ${status}`, status);
  }
  if (status !== undefined) return retry(`SMTP ${status}`, status);
  return retry(unreachable);
}
