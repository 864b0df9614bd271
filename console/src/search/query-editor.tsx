import { say } from "../shared/translate.ts";
import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { history, historyKeymap } from "@codemirror/commands";
import {
  defineLanguageFacet,
  HighlightStyle,
  Language,
  syntaxHighlighting,
} from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useQueryClient } from "@tanstack/react-query";
import { type Ref, useImperativeHandle, useLayoutEffect, useRef } from "react";
import type { Instants } from "../address/range.ts";
import { complete } from "../language/completion.ts";
import { parser } from "../language/logloom.grammar";
import { useOperation, useService } from "../service/operation-hooks.ts";
import type { Field } from "../service/logloom.ts";
import { usePreferences } from "../shared/preferences.ts";
import { useFeatures } from "./reader-features.ts";
import { editorTheme } from "./editor-theme.ts";
import { deletions, ownKeys, replaceAll, replaceSelected } from "./query-keys.ts";
import { marksOf } from "./query-diagnostics.ts";

export interface BoxHandle {
  focus: () => void;
  /** Replaces the box's text. */
  put: (text: string) => void;
}

export interface QueryBoxProps {
  /** The initial text, then the last text that `onChange` reported. Only `put` changes the box. */
  text: string;
  fields: Field[];
  /** The range whose values are offered. */
  range: Instants | null;
  onChange: (text: string) => void;
  onRun: (text: string) => void;
  ref: Ref<BoxHandle>;
}

const language = new Language(defineLanguageFacet(), parser, [], "logloom");

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.keyword, color: "var(--series-3)", fontWeight: "600" },
  { tag: tags.operator, color: "var(--text-muted)" },
  { tag: tags.number, color: "var(--text-info)" },
  { tag: tags.string, color: "var(--text)" },
  { tag: tags.regexp, color: "var(--series-4)" },
  { tag: tags.function(tags.variableName), color: "var(--series-2)", fontWeight: "600" },
]);

/** The editor. In a shadow root it needs no style element, which the page's policy forbids. */
export function QueryEditor(
  { text, fields, range, onChange, onRun, ref, hadFocus }: QueryBoxProps & { hadFocus: boolean },
) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const service = useService();
  const { history: earlier } = usePreferences();
  const saved = useOperation("list_saved_searches", { p_limit: 1000 }, {
    enabled: useFeatures().saved,
  });
  const queries = useQueryClient();
  const askFields = async (p_name: string) => {
    const parameters = { p_query_dsl: "", p_ts_from: range?.from, p_ts_to: range?.to, p_name };
    return await queries.fetchQuery({
      queryKey: ["list_log_fields", parameters],
      queryFn: ({ signal }) => service.call("list_log_fields", parameters, { signal }),
      staleTime: 60_000,
    });
  };
  const now = { fields, saved: saved.data ?? [], earlier, onChange, onRun, askFields };
  const latest = useRef({ ...now, place: -1 });
  Object.assign(latest.current, now);
  useImperativeHandle(ref, () => ({
    focus: () => view.current?.focus(),
    put: (text) => {
      if (view.current) replaceAll(view.current, text);
    },
  }), []);

  // Runs before the next key press, so that no letter typed into the plain input is lost.
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const editor = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: text,
        extensions: [
          Prec.highest(keymap.of(ownKeys(latest.current))),
          history(),
          language,
          syntaxHighlighting(colours),
          autocompletion({
            override: [complete(() => latest.current)],
            icons: false,
            // Enter runs the query unless the arrow keys chose an entry.
            selectOnOpen: false,
            // No delay: a fast Tab must take the entry.
            interactionDelay: 0,
          }),
          linter(async (editor) => {
            const query = editor.state.doc.toString();
            if (query.trim() === "") return [];
            const verdict = await service.validate(query).catch(() => null);
            return marksOf(query, verdict);
          }, { delay: 250 }),
          keymap.of([...completionKeymap, ...historyKeymap, ...deletions]),
          placeholder('level:error service:api "slow query"'),
          EditorView.lineWrapping,
          EditorView.domEventHandlers({ beforeinput: replaceSelected }),
          EditorView.contentAttributes.of({ "aria-label": say("Query"), spellcheck: "false" }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            const wasTyped = update.transactions.some((one) => one.isUserEvent("input"));
            if (wasTyped) latest.current.place = -1;
            latest.current.onChange(update.state.doc.toString());
          }),
          editorTheme,
        ],
      }),
    });
    view.current = editor;
    if (hadFocus) editor.focus();
    return () => {
      editor.destroy();
      view.current = null;
    };
  }, [service]);

  return <div ref={host} className="query-host" data-testid="query-editor" />;
}
