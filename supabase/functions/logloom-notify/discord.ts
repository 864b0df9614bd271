import { cut, type Message } from "./message.ts";

const colors = { triggered: 0xd83c3e, resolved: 0x3ba55d, unwatched: 0x99aab5, test: 0x5865f2 };

/**
 * Makes one embed, which mentions nobody, whatever its texts are. Limits:
 * https://discord.com/developers/docs/resources/message#embed-object (title 256, description 4096, 25 fields with 256
 * and 1024, 6000 in all).
 */
export function discordPayload(message: Message) {
  const { state, title, summary, facts, logs, url, at } = message;
  return {
    allowed_mentions: { parse: [] },
    embeds: [{
      title: cut(escapeMarkdown(cut(title, 120)), 256),
      description: [
        escapeMarkdown(cut(summary, 400)),
        // A zero-width character between backticks keeps them from closing the code block.
        ...logs.length === 0
          ? []
          : ["```", ...logs.map((log) => cut(log.replaceAll("`", "`\u200b"), 300)), "```"],
      ].join("\n"),
      ...url === undefined || url.length > 2048 ? {} : { url },
      color: colors[state],
      timestamp: at,
      fields: facts.slice(0, 15).map(([name, value]) => ({
        name: escapeMarkdown(cut(name, 60)),
        value: escapeMarkdown(cut(value, 90)) || "–",
        inline: false,
      })),
    }],
  };
}

/** Escapes Discord's markup, also at the beginning of a line. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\*_~`|>#[\]()<@:-]/g, "\\$&");
}
