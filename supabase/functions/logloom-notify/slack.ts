import { cut, type Message } from "./message.ts";

const signs = { triggered: "🔴", resolved: "✅", unwatched: "⚪", test: "🔔" };

/**
 * For an incoming webhook of Slack, or of a compatible service: blocks of plain text. Only the fallback text is read as
 * markup. Limits: https://docs.slack.dev/reference/block-kit/blocks (header 150, button URL 3000).
 */
export function slackPayload(message: Message) {
  const { state, title, summary, facts, logs, url } = message;
  const text = (value: string, style = {}) => ({ type: "text", text: value, ...style });
  const section = (elements: unknown[]) => ({ type: "rich_text_section", elements });
  return {
    text: escapeSlack(cut(`${signs[state]} ${title}`, 500)),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      {
        type: "header",
        text: { type: "plain_text", text: cut(`${signs[state]} ${title}`, 150), emoji: false },
      },
      {
        type: "rich_text",
        elements: [
          section([text(cut(summary, 1000))]),
          ...facts.map(([name, value]) =>
            section([
              text(`${cut(name, 300)}: `, { style: { bold: true } }),
              text(cut(value, 1000)),
            ])
          ),
          ...logs.length === 0 ? [] : [{
            type: "rich_text_preformatted",
            elements: [text(cut(logs.join("\n"), 2000))],
          }],
        ],
      },
      ...url === undefined || url.length > 3000 ? [] : [{
        type: "actions",
        elements: [{
          type: "button",
          text: { type: "plain_text", text: "Show the records", emoji: false },
          url,
        }],
      }],
    ],
  };
}

/** Escapes the characters of mentions, links and commands: https://docs.slack.dev/messaging/formatting-message-text */
export function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
