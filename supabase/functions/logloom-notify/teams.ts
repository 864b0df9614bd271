import { cut, type Message } from "./message.ts";

const colors = { triggered: "Attention", resolved: "Good", unwatched: "Warning", test: "Accent" };

/**
 * For a workflow "Post to a channel when a webhook request is received": an Adaptive Card,
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using (28 KB a message).
 * The text of a TextRun is not Markdown: https://adaptivecards.io/explorer/RichTextBlock.html
 */
export function teamsPayload(message: Message) {
  const { state, title, summary, facts, logs, url } = message;
  const run = (text: string, style = {}) => ({ type: "TextRun", text: plain(text), ...style });
  const block = (inlines: unknown[], style = {}) => ({ type: "RichTextBlock", inlines, ...style });
  return {
    type: "message",
    attachments: [{
      contentType: "application/vnd.microsoft.card.adaptive",
      contentUrl: null,
      content: {
        $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
        type: "AdaptiveCard",
        version: "1.4",
        body: [
          block([run(cut(title, 200), { size: "Large", weight: "Bolder", color: colors[state] })]),
          block([run(cut(summary, 1000))]),
          ...facts.map(([name, value]) =>
            block([
              run(`${cut(name, 200)}: `, { weight: "Bolder" }),
              run(cut(value, 500)),
            ], { spacing: "Small" })
          ),
          ...logs.map((log) => block([run(log, { fontType: "Monospace" })], { spacing: "Small" })),
        ],
        ...url === undefined
          ? {}
          : { actions: [{ type: "Action.OpenUrl", title: "Show the records", url }] },
      },
    }],
  };
}

/** Breaks up `{{`, because cards replace {{DATE(…)}} by a date. */
function plain(text: string): string {
  return text.replaceAll("{{", "{\u200b{");
}
