// Runs in a page that the user has chosen. Redacts what is pasted, redacts a field on a key, and shows answers with the user's details. The mapping is
// in this script alone: it ends with the page, and the page's own scripts can't read it.
(() => {
  if (globalThis.peruseRedaction) return; // it runs already
  globalThis.peruseRedaction = true;

  let mapping = {};

  async function ask(kind, text) {
    const answer = await chrome.runtime.sendMessage({ kind, text, mapping });
    if (answer.error !== undefined) throw new Error(answer.error);
    mapping = answer.mapping ?? mapping;
    return answer.text;
  }

  const kTextInputs = /^(text|search|email|url|tel|)$/;

  function isField(node) {
    if (node instanceof HTMLTextAreaElement) return true;
    if (node instanceof HTMLInputElement) return kTextInputs.test(node.type);
    return node instanceof HTMLElement && node.isContentEditable;
  }

  /** The focused field, also inside of shadow roots. */
  function focusedField() {
    let node = document.activeElement;
    while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
    return isField(node) ? node : undefined;
  }

  const hasValue = (field) => 'value' in field;

  /** Selects the whole field, and returns its text. */
  function selectAll(field) {
    field.focus();
    if (hasValue(field)) field.select();
    else document.execCommand('selectAll');
    return hasValue(field) ? field.value : String(getSelection());
  }

  /** Replaces the selection as typing does, so that the page notices, and the user can undo it. */
  const insert = (text) => document.execCommand('insertText', false, text);

  async function replace(field, kind) {
    const text = selectAll(field);
    if (text.trim() === '') return;
    const made = await ask(kind, text);
    selectAll(field);
    insert(made);
  }

  addEventListener(
    'paste',
    (event) => {
      const field = event.composedPath().find(isField);
      const text = event.clipboardData?.getData('text/plain');
      if (!field || !text) return;
      event.preventDefault();
      event.stopImmediatePropagation(); // the page's own listeners must not read the clipboard
      ask('redact', text).then(
        (redacted) => {
          field.focus();
          insert(redacted);
        },
        (error) => show(`Nothing was pasted: ${error.message}`),
      );
    },
    true,
  );

  /** The selected text, or the last element whose text has a placeholder of this page. */
  function answer() {
    const selected = String(getSelection());
    if (selected.trim() !== '') return selected;
    const names = Object.keys(mapping).map((placeholder) => placeholder.slice(1, -1));
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let last;
    while (walker.nextNode()) if (names.some((name) => walker.currentNode.data.includes(name))) last = walker.currentNode;
    return last?.parentElement?.textContent ?? '';
  }

  /** Shows a text in a closed shadow root, which the page's scripts can't read. */
  function show(text) {
    document.querySelector('peruse-answer')?.remove();
    const host = document.createElement('peruse-answer');
    const root = host.attachShadow({ mode: 'closed' });
    root.innerHTML = `<style>
      div { position: fixed; z-index: 2147483647; right: 16px; bottom: 16px; max-width: 28em; max-height: 60vh; overflow: auto; padding: 14px 16px;
        background: #fff; color: #1b1b1f; border: 2px solid #1b1b1f; border-radius: 8px; font: 15px/1.45 system-ui; white-space: pre-wrap; }
      button { float: right; margin: -4px -6px 4px 10px; border: 0; background: none; color: inherit; font: inherit; cursor: pointer; }
    </style><div role="status"><button aria-label="Close">✕</button><span></span></div>`;
    root.querySelector('span').textContent = text;
    root.querySelector('button').onclick = () => host.remove();
    document.documentElement.append(host);
  }

  const kCommands = {
    async redact() {
      const field = focusedField();
      if (field) await replace(field, 'redact');
    },
    async restore() {
      const field = focusedField();
      if (field) return replace(field, 'restore');
      const text = answer();
      if (text !== '') show(await ask('restore', text));
    },
  };

  chrome.runtime.onMessage.addListener(({ command }, _sender, done) => {
    if (!document.hasFocus()) return false; // another frame
    kCommands[command]()
      .catch((error) => show(`Nothing was changed: ${error.message}`))
      .finally(() => done());
    return true; // the answer comes later
  });
})();
