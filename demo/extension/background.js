// The background: has the model, and starts the content script on a page when the user clicks the icon or presses a key. It stores nothing, because
// the browser ends it after 30 idle seconds: the model is loaded again, and placeholders are kept by the page's content script.
import { pipeline, restore } from './peruse/peruse-service-worker.js';

let loading;
function redactor() {
  loading ??= pipeline('redact', chrome.runtime.getURL('model/'), { patterns: true, fail_closed: true });
  loading.catch(() => {
    loading = undefined; // the next call tries again
  });
  return loading;
}

const kAnswers = {
  /** Restores first, so that a text that was redacted before gets the same placeholders. */
  async redact({ text, mapping }) {
    const redact = await redactor();
    const found = await redact(restore(text, mapping).text, { mapping, recall: 0.5 });
    return { text: found.text, mapping: { ...mapping, ...found.mapping } };
  },
  async restore({ text, mapping }) {
    return { text: restore(text, mapping).text };
  },
};

chrome.runtime.onMessage.addListener((request, _sender, answer) => {
  kAnswers[request.kind](request).then(answer, (error) => answer({ error: error.message }));
  return true; // the answer comes later
});

/** Starts the content script, at the first time on this page, and makes it run a command. */
async function run(command, tab) {
  const target = { tabId: tab.id, allFrames: true };
  await chrome.scripting.executeScript({ target, files: ['content.js'] });
  await chrome.action.setBadgeText({ tabId: tab.id, text: 'on' });
  if (command !== undefined) await chrome.tabs.sendMessage(tab.id, { command });
}

chrome.action.onClicked.addListener((tab) => run(undefined, tab));
chrome.commands.onCommand.addListener(run);
globalThis.run = run; // for tests, which can't press keys of the browser
