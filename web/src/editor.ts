// The editor that shows whole files; a part of its own, because few views need it.

import { css } from '@codemirror/lang-css';
import { html } from '@codemirror/lang-html';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { markdown } from '@codemirror/lang-markdown';
import { python } from '@codemirror/lang-python';
import { rust } from '@codemirror/lang-rust';
import { HighlightStyle, syntaxHighlighting, type LanguageSupport } from '@codemirror/language';
import { search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Larger files are not coloured. */
const MOST_COLORED = 2 * 1024 * 1024;

const LANGUAGES: Record<string, () => LanguageSupport> = {
  css, html, htm: html, json, md: markdown, py: python, rs: rust,
  js: () => javascript(), mjs: () => javascript(), jsx: () => javascript({ jsx: true }),
  ts: () => javascript({ typescript: true }), tsx: () => javascript({ typescript: true, jsx: true }),
};

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--vio)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--addt)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--warn)' },
  { tag: [tags.comment, tags.meta], color: 'var(--mut)', fontStyle: 'italic' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.heading], color: 'var(--acc)' },
  { tag: [tags.typeName, tags.className, tags.tagName], color: 'var(--acc)' },
]);

const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--panel)', fontSize: '12px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', fontVariantLigatures: 'none' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--mut)', border: 'none' },
  '.cm-content': { caretColor: 'var(--acc)' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '44px', paddingRight: '10px' },
  '.cm-panels': { backgroundColor: 'var(--raise)', color: 'var(--text)' },
  '.cm-specialChar': { color: 'var(--err)' },
  '.cm-searchMatch': { backgroundColor: 'var(--accbg)' },
});

/** Shows a text; returns what takes it away again. */
export function show(place: HTMLElement, text: string, path: string, line?: number): () => void {
  // In a shadow root the styles of the editor are sheets, which the page's policy allows; style elements are not.
  const root = place.shadowRoot ?? place.attachShadow({ mode: 'open' });
  root.replaceChildren();
  const holder = document.createElement('div');
  holder.style.height = '100%';
  root.append(holder);
  const language = LANGUAGES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()];
  const extensions: Extension[] = [
    lineNumbers(), highlightSpecialChars(), EditorState.readOnly.of(true), look, search({ top: true }), keymap.of(searchKeymap),
    EditorView.contentAttributes.of({ 'aria-label': `Text of ${path}`, tabindex: '0' }),
  ];
  if (language !== undefined && text.length <= MOST_COLORED) extensions.push(language(), syntaxHighlighting(colors));
  const state = EditorState.create({ doc: text, extensions });
  const view = new EditorView({ state, parent: holder, root });
  if (line !== undefined && line >= 1 && line <= view.state.doc.lines) {
    const at = view.state.doc.line(line).from;
    view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
  }
  return () => view.destroy();
}
