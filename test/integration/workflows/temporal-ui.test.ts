import { ApplicationFailure } from '@temporalio/common';
import type { Client } from '@temporalio/client';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findOnPath } from '../../../dev/binaries';
import { statusQuery } from '../../../src/messages/progress';
import { followChainWorkflowId, transferWorkflowId } from '../../../src/messages/workflow-ids';
import { createFundedFixture, ServedChain, until } from '../transfers/served';

/** What an operator sees in the Temporal UI, at once and without scrolling: what a workflow waits for, and what to do. */

jest.setTimeout(300_000);

const executablePath = findOnPath('chromium') ?? findOnPath('google-chrome');

/** Of a box, in the coordinates of its window. */
interface Edges {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

/** The types of the DOM are not those of the project: scripts for the browser are text. An iframe cuts what it holds to its own box. */
const scripts = `
  const common = (a, b) => ({
    top: Math.max(a.top, b.top),
    left: Math.max(a.left, b.left),
    bottom: Math.min(a.bottom, b.bottom),
    right: Math.min(a.right, b.right),
  });
  /** What of an element's content no box around it cuts off; undefined where nothing of it is painted. */
  const shownPart = (element, shown) => {
    for (let box = element; box; box = box.parentElement) {
      const { visibility, opacity, overflowX, overflowY } = getComputedStyle(box);
      if (visibility === 'hidden' || Number(opacity) === 0) return undefined;
      // that of these two is applied to the window
      if (box === document.documentElement || box === document.body) continue;
      const edges = box.getBoundingClientRect();
      const { top, bottom } = overflowY === 'visible' ? shown : edges;
      const { left, right } = overflowX === 'visible' ? shown : edges;
      shown = common(shown, { top, left, bottom, right });
    }
    return shown;
  };
  /** The words that are wholly in the part of the window that is shown, in their order. */
  const wordsIn = (shownWindow) => {
    const words = [];
    const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      const shown = shownPart(node.parentElement, shownWindow);
      for (const { index, 0: word } of shown ? node.textContent.matchAll(/\\S+/g) : []) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const rects = [...range.getClientRects()];
        const isShown = ({ top, left, bottom, right, width }) =>
          width > 0 && top >= shown.top - 1 && left >= shown.left - 1 && bottom <= shown.bottom + 1 && right <= shown.right + 1;
        if (rects.length > 0 && rects.every(isShown)) words.push(word);
      }
    }
    return words.join(' ');
  };
  const wholeWindow = { top: 0, left: 0, bottom: innerHeight, right: innerWidth };
  /** For each iframe, in the order of the document: what is shown of it, in its own coordinates. */
  const shownFrames = () => [...document.querySelectorAll('iframe')].map((element) => {
    const own = element.getBoundingClientRect();
    const shown = shownPart(element, common(wholeWindow, own));
    const { top, left, bottom, right } = shown ?? { top: 0, left: 0, bottom: 0, right: 0 };
    return { top: top - own.top, left: left - own.left, bottom: bottom - own.top, right: right - own.left };
  });
`;
const inBrowser = (expression: string): string => `(() => { ${scripts} return ${expression}; })()`;

/** The text that somebody sees without scrolling, in the page and in its iframes. */
async function shownText(page: Page): Promise<string> {
  const texts = [await page.evaluate<string>(inBrowser('wordsIn(wholeWindow)'))];
  const shownFrames = await page.evaluate<Edges[]>(inBrowser('shownFrames()'));
  const frames = await page.locator('iframe').elementHandles();
  for (const [index, edges] of shownFrames.entries()) {
    const frame = await frames[index]?.contentFrame();
    if (frame) texts.push(await frame.evaluate<string>(inBrowser(`wordsIn(${JSON.stringify(edges)})`)));
  }
  // a word in bold is one of its own, apart from what follows it
  return texts.join('\n').replaceAll(/ (?=[,.;:])/g, '');
}

describe('in a browser', () => {
  if (executablePath === undefined) {
    test.skip('needs chromium on the PATH: apt-get install chromium', () => undefined);
    return;
  }
  // nothing is replaced while it is looked at
  const served = new ServedChain(() => createFundedFixture(600_000), undefined, { hasUi: true });
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    // root, as which tests run in containers, has no sandbox
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  }, 60_000);
  afterAll(() => browser?.close());

  /** Opens a page of the UI, again if need be, until it shows all of this. */
  async function shows(address: string, expected: readonly RegExp[]): Promise<void> {
    let shown = '';
    for (const end = Date.now() + 90_000; Date.now() < end;) {
      // what it has loaded of the page is read all the same
      await page.goto(address).catch(() => undefined);
      for (let times = 0; times < 25; times += 1) {
        // the page replaces its iframes while it loads
        shown = await shownText(page).catch((error: Error) => error.message);
        if (expected.every((part) => part.test(shown))) return;
        await page.waitForTimeout(200);
      }
    }
    throw new Error(`${address} does not show ${expected.filter((part) => !part.test(shown)).join(', ')} in: ${shown}`);
  }

  interface Ui {
    client: Client;
    uiUrl?: string;
  }
  async function workflowShows(
    { client, uiUrl }: Ui,
    workflowId: string,
    expected: readonly RegExp[],
    tab = '/user-metadata',
  ): Promise<void> {
    const { runId } = await client.workflow.getHandle(workflowId).describe();
    await shows(`${uiUrl}/namespaces/default/workflows/${workflowId}/${runId}${tab}`, expected);
  }

  /** The page with the runs, with this query. */
  const listShows = ({ uiUrl }: Ui, query: string, expected: readonly RegExp[]): Promise<void> =>
    shows(`${uiUrl}/namespaces/default/workflows?query=${encodeURIComponent(query)}`, expected);

  const submit = () => served.submit({ tokenSymbol: 'USDC', amount: '2.5', toAddress: served.fixture.bob.address });
  const statusOf = (txId: string) => served.client.workflow.getHandle(transferWorkflowId(txId)).query(statusQuery);
  const amount = () => {
    const { address } = served.fixture.bob;
    return new RegExp(`2\\.5 USDC on ethereum to ${address.slice(0, 10)}…${address.slice(-6)}`);
  };

  test('a transfer waits for signing nodes', async () => {
    await served.serveBuild();
    await served.serveOthers({}, []);
    const txId = await submit();
    const workflowId = transferWorkflowId(txId);
    await until('it waits', async () => (await statusOf(txId)).detail.startsWith('Waiting for two'));
    await workflowShows(served.temporal, workflowId, [
      /Waits for two of the signing nodes, and goes on by itself: start what is down/,
      /failure-codes\.md#signers_unavailable/,
      amount(),
    ]);
    // the workers of the next test would run it
    await served.client.workflow.getHandle(workflowId).terminate();
  });

  test('a transfer waits for the chain, and is confirmed; the follower shows where it is', async () => {
    await served.serve();
    const txId = await submit();
    const workflowId = transferWorkflowId(txId);
    await until('sent', async () => (await statusOf(txId)).step === 'confirm');
    await workflowShows(served.temporal, workflowId, [
      /Waits for \d+ confirmations on ethereum; nothing to do unless follow-ethereum reads no blocks/,
      /alerts\.md#chainsilent/,
      amount(),
    ]);

    await served.startFollower();
    await served.ends(txId, 'CONFIRMED');
    await served.client.workflow.getHandle(workflowId).result();
    await workflowShows(served.temporal, workflowId, [amount(), /Completed/]);
    const follower = followChainWorkflowId('ethereum');
    await workflowShows(served.temporal, follower, [/Reads the blocks of ethereum; nothing to do\./]);
    await workflowShows(
      served.temporal,
      follower,
      [/"?nextBlock"?: \d+/, /"?head"?: \d+/, /"?endpoint"?: "127\.0\.0\.1:\d+"/],
      '/pending-activities',
    );
  });

  test('a transfer waits for an approval; the list has it by its state, and says what it is', async () => {
    const { database, alice } = served.fixture;
    await database.query(`update clients set whitelist_mode = 'approve' where client_id = $1`, [alice.clientId]);
    await served.serve();
    const txId = await submit();
    const workflowId = transferWorkflowId(txId);
    await until('it waits', async () => (await statusOf(txId)).step === 'screen');
    await workflowShows(served.temporal, workflowId, [/approv/i, amount()]);
    await listShows(served.temporal, `TxStatus = 'AWAITING_APPROVAL'`, [new RegExp(workflowId), /Running/, /transfer\b/]);
    await served.client.workflow.getHandle(workflowId).terminate();
  });

  test('a parked transfer says why, what to do and where that is written', async () => {
    const reason = 'what is to be signed pays another address than the order names';
    await served.serve({
      sign: () => {
        throw ApplicationFailure.create({ type: 'intent_mismatch', message: reason, nonRetryable: true });
      },
    });
    const txId = await submit();
    await until('parked', async () => (await statusOf(txId)).step === 'park');
    await workflowShows(served.temporal, transferWorkflowId(txId), [
      /Waits for an operator: intent_mismatch\./,
      /docs\/runbook\/failure-codes\.md#intent_mismatch/,
      new RegExp(`gateway transfers retry ${txId}`),
      new RegExp(`Reason: ${reason}`),
      amount(),
    ]);
  });
});
