import {
  acceptCompletion,
  autocompletion,
  closeCompletion,
  completionKeymap,
  completionStatus,
  moveCompletionSelection,
  selectedCompletion,
} from "@codemirror/autocomplete";
import {
  deleteCharBackward,
  deleteCharForward,
  deleteGroupBackward,
  deleteGroupForward,
  history,
  historyKeymap,
  selectAll,
} from "@codemirror/commands";
import {
  defineLanguageFacet,
  HighlightStyle,
  Language,
  syntaxHighlighting,
} from "@codemirror/language";
import { linter } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, type KeyBinding, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useImperativeHandle, useLayoutEffect, useRef } from "react";
import { complete, type Saved } from "../language/completion.ts";
import { parser } from "../language/logloom.grammar";
import { useOperation, useService } from "../service/hooks.ts";
import type { Verdict } from "../service/records.ts";
import { usePreferences } from "../shared/preferences.ts";
import { editorTheme } from "./editor-theme.ts";
import type { QueryBoxProps } from "./query-box.tsx";

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

/** The editor, in a shadow root: there it brings its styles without a style element, which the page forbids. */
export function QueryEditor({ text, fields, onChange, onRun, ref, hadFocus }: QueryBoxProps & {
  hadFocus: boolean;
}) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const service = useService();
  const { history: earlier } = usePreferences();
  const saved = useOperation<Saved[]>("list_saved_searches", { p_limit: 1000 });
  const latest = useRef({ fields, saved: saved.data ?? [], earlier, onChange, onRun, place: -1 });
  Object.assign(latest.current, { fields, saved: saved.data ?? [], earlier, onChange, onRun });
  useImperativeHandle(ref, () => ({
    focus: () => view.current?.focus(),
    put: (text) => {
      if (view.current) replaceAll(view.current, text);
    },
  }), []);

  // Before the browser takes the next key: what was typed into the plain input is the text that this begins with.
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
            // Enter runs the query unless an entry was chosen with the arrows.
            selectOnOpen: false,
          }),
          linter(async (editor) => {
            const query = editor.state.doc.toString();
            if (query.trim() === "") return [];
            const verdict = await service.call<Verdict>("validate_query", { p_query_dsl: query })
              .catch(() => null);
            return marksOf(query, verdict);
          }, { delay: 250 }),
          keymap.of([...completionKeymap, ...historyKeymap, ...deletions]),
          placeholder('level:error service:api "slow query"'),
          EditorView.lineWrapping,
          EditorView.domEventHandlers({ beforeinput: replaceSelected }),
          EditorView.contentAttributes.of({ "aria-label": "Query", spellcheck: "false" }),
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

function replaceAll(editor: EditorView, text: string): void {
  if (editor.state.doc.toString() === text) return;
  closeCompletion(editor);
  editor.dispatch({
    changes: { from: 0, to: editor.state.doc.length, insert: text },
    selection: { anchor: text.length },
  });
}

/** The browser moves the cursor by itself; what changes the text goes through the editor. */
const deletions: KeyBinding[] = [
  { key: "Mod-a", run: selectAll },
  { key: "Backspace", run: deleteCharBackward, shift: deleteCharBackward },
  { key: "Delete", run: deleteCharForward },
  { key: "Mod-Backspace", mac: "Alt-Backspace", run: deleteGroupBackward },
  { key: "Mod-Delete", mac: "Alt-Delete", run: deleteGroupForward },
];

/**
 * What is typed over a selection. Left to the browser, it would keep the look of what it replaces by a style attribute,
 * which the page's policy forbids.
 */
function replaceSelected(event: InputEvent, editor: EditorView): boolean {
  const isTyped = event.inputType === "insertText" && event.data !== null && !event.isComposing;
  if (!isTyped || editor.state.selection.main.empty) return false;
  event.preventDefault();
  editor.dispatch(editor.state.replaceSelection(event.data ?? ""), {
    userEvent: "input.type",
    scrollIntoView: true,
  });
  return true;
}

interface Latest {
  earlier: string[];
  onChange: (text: string) => void;
  onRun: (text: string) => void;
  place: number;
}

/** Enter runs, Ctrl+Enter adds a line, the arrows go through earlier queries where there is one line. */
function ownKeys(latest: Latest) {
  const step = (by: number) => (editor: EditorView) => {
    if (completionStatus(editor.state) === "active" || editor.state.doc.lines > 1) return false;
    const next = latest.place + by;
    if (next < -1 || next >= latest.earlier.length) return false;
    const isFresh = latest.place === -1 && editor.state.doc.length > 0;
    if (isFresh && latest.earlier[0] !== editor.state.doc.toString()) return false;
    latest.place = isFresh && by > 0 ? next + 1 : next;
    replaceAll(editor, latest.earlier[latest.place] ?? "");
    return true;
  };
  const addLine = (editor: EditorView) => {
    editor.dispatch(editor.state.replaceSelection("\n"), { scrollIntoView: true });
    return true;
  };
  return [
    {
      key: "Enter",
      run: (editor: EditorView) => {
        if (selectedCompletion(editor.state)) return false;
        closeCompletion(editor);
        latest.onRun(editor.state.doc.toString());
        return true;
      },
    },
    { key: "Tab", run: acceptOrLeave },
    { key: "Ctrl-Enter", run: addLine },
    { key: "Mod-Enter", run: addLine },
    { key: "Shift-Enter", run: addLine },
    { key: "ArrowUp", run: step(1) },
    { key: "ArrowDown", run: step(-1) },
    { key: "Escape", run: (editor: EditorView) => (editor.contentDOM.blur(), false) },
  ];
}

/** Tab takes the first entry of an open list, and otherwise leaves the box, as everywhere on a page. */
function acceptOrLeave(editor: EditorView): boolean {
  if (completionStatus(editor.state) !== "active") return false;
  if (!selectedCompletion(editor.state)) moveCompletionSelection(true)(editor);
  return acceptCompletion(editor);
}

/** The service counts characters, the editor code units. */
function marksOf(query: string, verdict: Verdict | null) {
  const place = (position: number | null) => {
    const before = [...query].slice(0, Math.max(0, (position ?? 1) - 1)).join("").length;
    const from = Math.min(before, Math.max(0, query.length - 1));
    const word = /^[^\s]+/.exec(query.slice(from))?.[0].length ?? 1;
    return { from, to: Math.min(query.length, from + word) };
  };
  if (verdict && !verdict.valid) {
    return [{
      ...place(verdict.position),
      severity: "error" as const,
      message: [verdict.error, verdict.hint].filter(Boolean).join(" — "),
    }];
  }
  return (verdict?.warnings ?? []).map((warning) => ({
    ...place(warning.position),
    severity: "warning" as const,
    message: [warning.message, warning.hint].filter(Boolean).join(" — "),
  }));
}
